#pragma once
// Reads a trace: line by line, in bounded memory. A torn last line is accepted and said.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "traces/event.h"

namespace onelaunch::traces {

struct ReadSummary {
  std::uint64_t events = 0;
  bool torn_last_line = false;
  double last_t = 0;
  std::string last_hash;               // SHA-256 of the last whole line; 64 zeros when there is none
  std::uint64_t whole_bytes = 0;       // length of the file up to the end of the last whole line
};

// Calls `visit` with each event in order; stops when it returns false. `path` is a run directory or an events.jsonl.
// Fails (invalid_input) with the line number on anything but a torn last line.
Result<ReadSummary> read_trace(const std::filesystem::path& path, const std::function<bool(const Record&)>& visit);

Result<std::string> read_blob(const std::filesystem::path& run, const std::string& sha256);

}  // namespace onelaunch::traces
