// The bytes that a worker sends: frames until the first that is none.
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/protocol/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onelaunch;
  constexpr std::size_t kSocketBytes = 1 << 16;  // fits into a socket's buffer
  if (size > kSocketBytes) return 0;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 0;
  sandbox::FrameChannel channel(UniqueFd(pair[0]), kSocketBytes);
  {
    const UniqueFd peer(pair[1]);
    if (::send(peer.get(), data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) return 0;
  }
  std::size_t carried = 0;
  while (true) {
    const auto received = channel.receive({});
    const auto* frame = std::get_if<sandbox::Frame>(&received);
    if (frame == nullptr) return 0;
    carried += frame->body.size();
    if (carried > size) __builtin_trap();
  }
}
