#pragma once
// A session's timeline for the terminal: what was tried, why, what it measured, what was decided.

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

#include "base/result.h"

namespace onelaunch::traces {

struct ViewOptions {
  bool color = false;
  bool diff = false;            // source diff of each kept candidate to its parent
  // Only attempts with this verdict ("keep", "revert", "quarantine"), or those that failed a gate or did not compile
  // ("reject"); empty shows all.
  std::string only;
};
Result<void> print_timeline(const std::filesystem::path& run, const ViewOptions& options, std::ostream& out);

// The same for a session that goes on: prints what there is, then what comes, until session_end. `wait` returns after a
// while, false when nothing more will come.
Result<void> follow_timeline(const std::filesystem::path& run, const ViewOptions& options, std::ostream& out,
                             const std::function<bool()>& wait);

}  // namespace onelaunch::traces
