#pragma once
// Results that others published, from files of format onelaunch.external/1 (traces/FORMAT.md). Never ranked.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::traces {

struct ExternalEntry {
  std::string agent, task, device, baseline, citation, url, note;
  std::optional<double> us, over;                // us per token; x over `baseline`
  std::map<std::int64_t, double> over_by_context;
  std::optional<int> launches, barriers;         // per token
  std::optional<double> active_s, cost_usd;
  std::optional<std::uint64_t> output_tokens;
  std::string file;                              // where it was read; empty: shipped with the program
};

// Fails (invalid_input) with what is wrong in which entry.
Result<std::vector<ExternalEntry>> read_external(const std::filesystem::path& file);
Result<std::vector<ExternalEntry>> parse_external(const std::string& text, const std::string& file);
// What this field starts from, for every task.
std::vector<ExternalEntry> shipped_external();

}  // namespace onelaunch::traces
