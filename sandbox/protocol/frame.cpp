#include "sandbox/protocol/frame.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace onelaunch::sandbox {
namespace {

constexpr std::uint64_t kMagic = 0x31304d4152464c4f;  // "OLFRAM01"

struct Head {
  std::uint64_t magic, bytes, nonce;
};

ChannelEnd closed(const std::string& what) { return {ChannelEnd::Kind::closed, what}; }
ChannelEnd malformed(const std::string& what) { return {ChannelEnd::Kind::malformed, what}; }

// Milliseconds for poll(): -1 without a deadline; rounded up so that a wait never ends early.
int poll_ms(const Patience& patience) {
  if (!patience.deadline) return -1;
  const double left_ms = patience.deadline->left(*patience.clock).count() * 1e3;
  return static_cast<int>(std::clamp(std::ceil(left_ms), 0.0, 3.6e6));
}

// One sendmsg() with the descriptor attached when there is one.
ssize_t send_part(int socket, std::string_view part, int passed_fd) {
  iovec vec{const_cast<char*>(part.data()), part.size()};
  msghdr message{};
  message.msg_iov = &vec;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (passed_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &passed_fd, sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t receive_part(int socket, char* to, std::size_t bytes, UniqueFd& fd) {
  iovec vec{to, bytes};
  msghdr message{};
  message.msg_iov = &vec;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int passed = -1;
    std::memcpy(&passed, CMSG_DATA(header), sizeof(int));
    fd.reset(passed);
  }
  return got;
}

}  // namespace

FrameChannel::FrameChannel(UniqueFd socket, std::size_t frame_bytes_max)
    : socket_(std::move(socket)), frame_bytes_max_(frame_bytes_max) {
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  ::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK);
}

std::optional<ChannelEnd> FrameChannel::wait(short events, const Patience& patience) const {
  for (;;) {
    pollfd watched[2] = {{socket_.get(), events, 0}, {patience.interrupt_fd, POLLIN, 0}};
    const int ready = ::poll(watched, patience.interrupt_fd >= 0 ? 2 : 1, poll_ms(patience));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return closed(std::string("poll: ") + std::strerror(errno));
    if (watched[1].revents != 0) return ChannelEnd{ChannelEnd::Kind::interrupted, "interrupted"};
    if (watched[0].revents != 0) return std::nullopt;
    if (patience.deadline && patience.deadline->passed(*patience.clock))
      return ChannelEnd{ChannelEnd::Kind::timed_out, "the deadline passed"};
  }
}

std::optional<ChannelEnd> FrameChannel::send(std::uint64_t nonce, std::string_view body, int passed_fd,
                                             const Patience& patience) {
  if (body.size() > frame_bytes_max_)
    return malformed("a message of " + std::to_string(body.size()) + " bytes is over the limit");
  const Head head{kMagic, body.size(), nonce};
  std::string_view parts[2] = {{reinterpret_cast<const char*>(&head), sizeof head}, body};
  for (std::string_view& part : parts) {
    while (!part.empty()) {
      const ssize_t sent = send_part(socket_.get(), part, passed_fd);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        if (auto end = wait(POLLOUT, patience)) return end;
        continue;
      }
      if (sent < 0) return closed(std::string("send: ") + std::strerror(errno));
      passed_fd = -1;
      part.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  return std::nullopt;
}

std::optional<ChannelEnd> FrameChannel::read_exactly(char* to, std::size_t bytes, Frame& frame,
                                                     const Patience& patience) {
  while (bytes > 0) {
    const ssize_t got = receive_part(socket_.get(), to, bytes, frame.fd);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (auto end = wait(POLLIN, patience)) return end;
      continue;
    }
    if (got < 0) return closed(std::string("receive: ") + std::strerror(errno));
    if (got == 0) return closed("the other side has closed the connection");
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return std::nullopt;
}

std::variant<Frame, ChannelEnd> FrameChannel::receive(const Patience& patience) {
  Frame frame;
  Head head{};
  if (auto end = read_exactly(reinterpret_cast<char*>(&head), sizeof head, frame, patience)) return *end;
  if (head.magic != kMagic) return malformed("not a frame");
  if (head.bytes > frame_bytes_max_)
    return malformed("a frame of " + std::to_string(head.bytes) + " bytes is over the limit of " +
                     std::to_string(frame_bytes_max_));
  frame.nonce = head.nonce;
  frame.body.resize(head.bytes);
  if (auto end = read_exactly(frame.body.data(), frame.body.size(), frame, patience)) return *end;
  return frame;
}

}  // namespace onelaunch::sandbox
