#pragma once
// Lines from a file descriptor, as they come.

#include <functional>
#include <string>

#include "base/result.h"

namespace onelaunch::agent::mcp {

struct LineHandlers {
  std::function<void(const std::string&)> line;  // without its line break
  std::function<void()> too_long;                // instead of a line of more than bytes_max
  std::function<bool()> stop;                    // asked about every tenth of a second; true ends the reading
};

// Until the end of the input (a last line without a line break counts) or until stop(). Fails (unavailable) when reading does.
Result<void> read_lines(int fd, std::size_t bytes_max, const LineHandlers& handlers);

}  // namespace onelaunch::agent::mcp
