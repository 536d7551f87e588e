#include "agent/mcp/program.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "agent/external/submission.h"
#include "agent/mcp/lines.h"
#include "agent/mcp/server.h"

namespace onelaunch::agent::mcp {
namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<void> serve(int in, int out, ToolHost& host, const std::string& version, const std::function<bool()>& stop) {
  std::atomic<bool> deaf{false};  // the client reads no more
  Server server(
      host, [&](const std::string& line) { deaf = deaf || !write_all(out, line + "\n"); }, {.version = version});
  return read_lines(in, kMessageBytesMax,
                    {.line = [&](const std::string& line) { server.receive(line); },
                     .too_long = [&] { server.refuse_too_long(); },
                     .stop = [&] { return deaf || stop(); }});
}

}  // namespace onelaunch::agent::mcp
