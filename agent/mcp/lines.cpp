#include "agent/mcp/lines.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "agent/external/local_socket.h"
#include "base/clock.h"

namespace onelaunch::agent::mcp {
namespace {

constexpr Seconds kLookAgain{0.1};

class Splitter {
 public:
  Splitter(std::size_t bytes_max, const LineHandlers& handlers) : bytes_max_(bytes_max), handlers_(handlers) {}

  void add(std::string_view bytes) {
    for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      hold(bytes.substr(0, end));
      flush();
      bytes.remove_prefix(end + 1);
    }
    hold(bytes);
  }
  void flush() {
    if (too_long_)
      handlers_.too_long();
    else if (!line_.empty())
      handlers_.line(line_);
    line_.clear();
    too_long_ = false;
  }

 private:
  void hold(std::string_view bytes) {
    too_long_ = too_long_ || line_.size() + bytes.size() > bytes_max_;
    if (!too_long_) line_ += bytes;
  }

  std::size_t bytes_max_;
  const LineHandlers& handlers_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace

Result<void> read_lines(int fd, std::size_t bytes_max, const LineHandlers& handlers) {
  Splitter splitter(bytes_max, handlers);
  std::array<char, 65536> bytes;
  while (!handlers.stop()) {
    if (!readable_within(fd, kLookAgain)) continue;
    const ssize_t n = ::read(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unavailable(std::string("reading: ") + std::strerror(errno));
    if (n == 0) {
      splitter.flush();
      return {};
    }
    splitter.add(std::string_view(bytes.data(), static_cast<std::size_t>(n)));
  }
  return {};
}

}  // namespace onelaunch::agent::mcp
