#pragma once
// Length-prefixed messages over a socket: 8 bytes magic and kind, 8 bytes length, 8 bytes nonce, then the body.
// A reply repeats the nonce of its request. Lengths above the limit are refused before anything is allocated.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace onelaunch::sandbox {

constexpr std::size_t kFrameBytesMax = std::size_t{512} << 20;

struct Frame {
  std::uint64_t nonce = 0;
  std::string body;
  UniqueFd fd;  // a descriptor that came along, at most one
};

// Why no frame could be moved.
struct ChannelEnd {
  enum class Kind { closed, timed_out, interrupted, malformed } kind;
  std::string message;
};

// How long to wait for the peer: until the deadline, or until `interrupt_fd` becomes readable; for ever by default.
struct Patience {
  const Clock* clock = nullptr;
  std::optional<Deadline> deadline;
  int interrupt_fd = -1;
};

// One end of a socketpair. Not for use by two threads at once.
class FrameChannel {
 public:
  explicit FrameChannel(UniqueFd socket, std::size_t frame_bytes_max = kFrameBytesMax);

  int fd() const { return socket_.get(); }
  // `passed_fd`: duplicated to the peer when not negative. Nothing on success.
  std::optional<ChannelEnd> send(std::uint64_t nonce, std::string_view body, int passed_fd, const Patience& patience);
  std::variant<Frame, ChannelEnd> receive(const Patience& patience);

 private:
  std::optional<ChannelEnd> read_exactly(char* to, std::size_t bytes, Frame& frame, const Patience& patience);
  std::optional<ChannelEnd> wait(short events, const Patience& patience) const;

  UniqueFd socket_;
  std::size_t frame_bytes_max_;
};

}  // namespace onelaunch::sandbox
