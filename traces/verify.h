#pragma once
// `trace verify`: is a trace what was written? Chain, numbering, schema, blobs.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "traces/chain.h"

namespace onelaunch::traces {

struct VerifyReport {
  std::uint64_t events = 0, blobs = 0;   // blobs: checked, each once
  bool torn_last_line = false;           // no defect: the process died while it wrote
  bool blobs_checked = true;             // false: a file without a blobs folder beside it
  std::string head;                      // SHA-256 of the last line: quote it elsewhere to pin the whole trace
  std::vector<std::string> unknown;      // event types of a newer writer; no defect
  std::vector<Defect> defects;           // by line; front() is the first bad line. At most kDefectsMax
  bool ok() const { return defects.empty(); }
};
inline constexpr std::size_t kDefectsMax = 20;

// `path` is a run directory or an events.jsonl. Fails only when it cannot be read at all.
Result<VerifyReport> verify_trace(const std::filesystem::path& path);

// One or a few lines for the terminal.
std::string describe(const VerifyReport& report);

}  // namespace onelaunch::traces
