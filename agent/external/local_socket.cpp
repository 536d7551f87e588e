#include "agent/external/local_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace onelaunch::agent {
namespace {

constexpr int kBacklog = 16;

std::string reason() { return std::strerror(errno); }

// A socket's path has at most 107 bytes; through the folder's descriptor any folder is within them.
struct Place {
  UniqueFd folder;
  sockaddr_un address{};
};

Result<Place> place_in(const std::filesystem::path& folder) {
  Place place;
  place.folder.reset(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place.folder) return unavailable("cannot open " + folder.string() + ": " + reason());
  const std::string path = "/proc/self/fd/" + std::to_string(place.folder.get()) + "/" + kSocketName;
  place.address.sun_family = AF_UNIX;
  std::memcpy(place.address.sun_path, path.c_str(), path.size() + 1);
  return place;
}

UniqueFd new_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Result<UniqueFd> listen_in(const std::filesystem::path& folder) {
  Result<Place> place = place_in(folder);
  if (!place) return because(place.error());
  UniqueFd fd = new_socket();
  if (!fd) return unavailable("socket: " + reason());
  ::fchmod(fd.get(), 0600);  // before bind(): the file never has a wider mode
  ::unlinkat(place->folder.get(), kSocketName, 0);
  const auto* address = reinterpret_cast<const sockaddr*>(&place->address);
  if (::bind(fd.get(), address, sizeof place->address) != 0 || ::listen(fd.get(), kBacklog) != 0)
    return unavailable("cannot listen on " + (folder / kSocketName).string() + ": " + reason());
  ::fchmodat(place->folder.get(), kSocketName, 0600, 0);
  return fd;
}

Result<UniqueFd> connect_in(const std::filesystem::path& folder) {
  Result<Place> place = place_in(folder);
  if (!place) return because(place.error());
  UniqueFd fd = new_socket();
  if (!fd) return unavailable("socket: " + reason());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&place->address), sizeof place->address) != 0)
    return unavailable("nobody listens on " + (folder / kSocketName).string() + ": " + reason());
  return fd;
}

Result<std::string> receive_all(int fd, std::size_t bytes_max, Seconds wait) {
  std::string text;
  char part[1 << 16];
  for (;;) {
    if (!readable_within(fd, wait)) return unavailable("the other side sends nothing more, and does not close");
    const ssize_t got = ::recv(fd, part, sizeof part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unavailable("receive: " + reason());
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > bytes_max) return invalid("the message is larger than " + std::to_string(bytes_max) + " bytes");
  }
}

Result<void> send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return unavailable("send: " + reason());
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  ::shutdown(fd, SHUT_WR);
  return {};
}

bool readable_within(int fd, Seconds wait) {
  pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
  const int milliseconds = wait.count() <= 0 ? -1 : static_cast<int>(wait.count() * 1000) + 1;
  int ready;
  do ready = ::poll(&poll_fd, 1, milliseconds);
  while (ready < 0 && errno == EINTR && milliseconds < 0);
  return ready > 0;
}

bool hung_up(int fd) {
  pollfd poll_fd{.fd = fd, .events = 0, .revents = 0};
  return ::poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLHUP | POLLERR)) != 0;
}

Result<UniqueFd> accept_within(int fd, Seconds wait) {
  if (!readable_within(fd, wait)) return UniqueFd();
  UniqueFd connection(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection && errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
    return unavailable("accept: " + reason());
  return connection;
}

}  // namespace onelaunch::agent
