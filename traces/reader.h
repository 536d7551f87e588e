#pragma once
// Reads a trace: line by line, in bounded memory. A torn last line is accepted and said.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "traces/event.h"

namespace onelaunch::traces {

struct ReadSummary {
  std::uint64_t events = 0;            // whole lines, those of unknown type included
  std::uint64_t unknown_events = 0;    // of a type that this build does not know: skipped
  std::vector<std::string> unknown;    // the first few: "line 7: unknown event type `x`"
  std::uint64_t last_seq = 0;
  bool torn_last_line = false;
  double last_t = 0;
  std::string last_hash;               // SHA-256 of the last whole line; 64 zeros when there is none
  std::uint64_t whole_bytes = 0;       // length of the file up to the end of the last whole line
};

// Calls `visit` with each event in order; stops when it returns false. `path` is a run directory or an events.jsonl.
// Fails (invalid_input) with the line number on anything but a torn last line.
Result<ReadSummary> read_trace(const std::filesystem::path& path, const std::function<bool(const Record&)>& visit);

// A run directory's trace, or the file itself.
std::filesystem::path trace_file(const std::filesystem::path& path);

// The content of blobs/<sha256>. Fails (invalid_input) when it is missing or its content has another hash.
Result<std::string> read_blob(const std::filesystem::path& run, const std::string& sha256);

}  // namespace onelaunch::traces
