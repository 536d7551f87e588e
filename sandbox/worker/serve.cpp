#include "sandbox/worker/serve.h"

#include <poll.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <variant>

#include "sandbox/protocol/messages.h"

namespace onelaunch::worker {
std::string answer_with_problem(const std::string& kind, const std::string& what) {
  const auto with_problem = [&](auto reply) {
    reply.problem = what;
    return encode(reply);
  };
  if (kind == "setup") return with_problem(sandbox::SetupReply());
  if (kind == "device") return with_problem(sandbox::DeviceFacts());
  if (kind == "time") return with_problem(sandbox::TimeReply());
  if (kind == "count") return with_problem(sandbox::CountReply());
  return with_problem(sandbox::RunReply());
}

void leave_with_the_host(int socket) {
  std::thread([socket] {
    pollfd watched{socket, POLLRDHUP, 0};
    while (::poll(&watched, 1, -1) < 0 || (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {}
    ::_exit(0);
  }).detach();
}

int serve(sandbox::FrameChannel& host, const Answering& answer, const std::function<bool()>& done) {
  using sandbox::ChannelEnd;
  for (;;) {
    auto received = host.receive({});
    if (const ChannelEnd* end = std::get_if<ChannelEnd>(&received)) return end->kind == ChannelEnd::Kind::closed ? 0 : 1;
    sandbox::Frame& frame = std::get<sandbox::Frame>(received);
    std::string reply;
    try {
      reply = answer(frame);
    } catch (const std::exception& error) {
      reply = answer_with_problem(sandbox::kind_of_message(frame.body), error.what());
    }
    if (reply.empty() || host.send(frame.nonce, reply, -1, {})) return 1;
    if (done && done()) return 0;
  }
}

}  // namespace onelaunch::worker
