#include "tests/fakes/fake_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/unique_fd.h"

namespace onelaunch::fakes {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_more(int fd, std::string& into) {
  char part[65536];
  const ssize_t got = ::recv(fd, part, sizeof part, 0);
  if (got <= 0) return false;
  into.append(part, static_cast<std::size_t>(got));
  return true;
}

HeardRequest parsed_head(const std::string& head) {
  HeardRequest request;
  std::size_t at = head.find("\r\n");
  const std::string line = head.substr(0, at);
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, second - first - 1);
  while (at != std::string::npos && at + 2 < head.size()) {
    const std::size_t end = head.find("\r\n", at + 2);
    const std::string field = head.substr(at + 2, end == std::string::npos ? end : end - at - 2);
    if (const std::size_t colon = field.find(':'); colon != std::string::npos)
      request.headers[lower(field.substr(0, colon))] = field.substr(std::min(colon + 2, field.size()));
    at = end;
  }
  return request;
}

std::string in_hex(std::size_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%zx", number);
  return text;
}

}  // namespace

class FakeHttpServer::Machinery {
 public:
  explicit Machinery(Script script) : script_(std::move(script)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    OL_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
    OL_CHECK(::listen(listener_.get(), 64) == 0, "listen");
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~Machinery() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (const auto& connection : connections_) ::shutdown(connection->fd.get(), SHUT_RDWR);
    }
    wake_.notify_all();
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (const auto& connection : connections_) connection->thread.join();
  }

  int port() const { return port_; }
  std::vector<HeardRequest> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  int connections() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(connections_.size());
  }

 private:
  struct Connection {
    UniqueFd fd;
    std::thread thread;
  };

  void accept_all() {
    for (;;) {
      UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const int now = 1;  // no piece waits for the next
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
      const std::lock_guard lock(mutex_);
      if (!fd || stopping_) return;
      connections_.push_back(std::make_unique<Connection>());
      Connection& connection = *connections_.back();
      connection.fd = std::move(fd);
      connection.thread = std::thread([this, &connection] { serve(connection.fd.get()); });
    }
  }

  // The descriptor stays open until the destructor: nobody may get its number while shutdown() may still be called.
  void serve(int fd) {
    std::string buffer;
    while (serve_one(fd, buffer)) {
    }
    ::shutdown(fd, SHUT_RDWR);
  }

  bool serve_one(int fd, std::string& buffer) {
    std::size_t end;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
      if (!receive_more(fd, buffer)) return false;
    HeardRequest request = parsed_head(buffer.substr(0, end));
    const auto length = request.headers.find("content-length");
    const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
    while (buffer.size() < end + 4 + size)
      if (!receive_more(fd, buffer)) return false;
    request.body = buffer.substr(end + 4, size);
    buffer.erase(0, end + 4 + size);
    return reply(fd, asked(std::move(request)));
  }

  Answer asked(HeardRequest request) {
    const std::lock_guard turn(script_mutex_);
    {
      const std::lock_guard lock(mutex_);
      request.number = static_cast<int>(heard_.size());
      heard_.push_back(request);
    }
    return script_(request);
  }

  bool reply(int fd, const Answer& answer) {
    if (answer.hang_first) return hang(fd, answer);
    if (answer.no_answer) return false;
    if (!answer.raw.empty()) return send_all(fd, answer.raw) && false;
    std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Fake\r\ntransfer-encoding: chunked\r\n";
    for (const auto& [name, value] : answer.headers) head += name + ": " + value + "\r\n";
    if (!send_all(fd, head + "\r\n")) return false;
    if (!send_body(fd, answer)) return false;
    if (answer.hang_after) return hang(fd, answer);
    if (answer.cut_after == std::string::npos) return send_all(fd, "0\r\n\r\n");
    if (answer.reset) {  // dissolving the association resets the connection; the descriptor stays ours
      const sockaddr nobody{AF_UNSPEC, {}};
      ::connect(fd, &nobody, sizeof nobody);
    }
    return false;
  }

  bool send_body(int fd, const Answer& answer) {
    const std::string body = answer.body.substr(0, answer.cut_after);
    const std::size_t step = answer.piece_bytes ? answer.piece_bytes : std::max<std::size_t>(body.size(), 1);
    for (std::size_t at = 0; at < body.size(); at += step) {
      if (at > 0 && answer.tick) answer.tick();
      if (at > 0 && !pause(answer.between)) return false;
      const std::string piece = body.substr(at, step);
      if (!send_all(fd, in_hex(piece.size()) + "\r\n" + piece + "\r\n")) return false;
    }
    return true;
  }

  bool pause(std::chrono::milliseconds how_long) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, how_long, [this] { return stopping_.load(); });
  }

  // Until the client hangs up, or the server goes.
  bool hang(int fd, const Answer& answer) {
    pollfd waited{fd, POLLIN | POLLRDHUP, 0};
    while (!stopping_ && ::poll(&waited, 1, 10) == 0)
      if (answer.tick) answer.tick();
    return false;
  }

  Script script_;
  UniqueFd listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::mutex script_mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::vector<HeardRequest> heard_;
  std::list<std::unique_ptr<Connection>> connections_;
  std::thread acceptor_;
};

FakeHttpServer::FakeHttpServer(Script script) : machinery_(std::make_unique<Machinery>(std::move(script))) {}
FakeHttpServer::~FakeHttpServer() = default;
int FakeHttpServer::port() const { return machinery_->port(); }
std::string FakeHttpServer::url() const { return "http://127.0.0.1:" + std::to_string(port()); }
std::vector<HeardRequest> FakeHttpServer::heard() const { return machinery_->heard(); }

int FakeHttpServer::connections() const { return machinery_->connections(); }

HeardRequest FakeHttpServer::last() const {
  const std::vector<HeardRequest> all = heard();
  OL_CHECK(!all.empty(), "nobody called");
  return all.back();
}

}  // namespace onelaunch::fakes
