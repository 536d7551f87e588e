#pragma once
// A session's timeline for the terminal: what was tried, why, what it measured, what was decided.

#include <filesystem>
#include <ostream>
#include <string>

#include "base/result.h"

namespace onelaunch::traces {

struct ViewOptions {
  bool color = false;
  bool diff = false;            // source diff of each kept candidate to its parent
  std::string only;             // "keep", "revert", ...: empty shows all
};
Result<void> print_timeline(const std::filesystem::path& run, const ViewOptions& options, std::ostream& out);

}  // namespace onelaunch::traces
