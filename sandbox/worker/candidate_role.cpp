#include "sandbox/worker/candidate_role.h"

#include <poll.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <variant>

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/confinement.h"
#include "sandbox/worker/emulated_candidate.h"
#include "sandbox/worker/system_calls.h"

namespace onelaunch::worker {
namespace {

using sandbox::ChannelEnd;
using sandbox::Frame;
using sandbox::FrameChannel;

constexpr std::uint64_t kDataBytesMax = std::uint64_t{6} << 30;
constexpr std::uint64_t kDescriptorsMax = 64;

// A host that was killed cannot kill us: its end of the socket closing is the sign to go, even in mid-launch.
void leave_with_the_host(int socket) {
  std::thread([socket] {
    pollfd watched{socket, POLLRDHUP, 0};
    while (::poll(&watched, 1, -1) < 0 || (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {}
    ::_exit(0);
  }).detach();
}

std::string answer(EmulatedCandidate& candidate, Frame& frame) {
  const std::string kind = sandbox::kind_of_message(frame.body);
  if (kind == "setup") {
    const auto job = sandbox::decode_setup_job(frame.body);
    if (job) return encode(candidate.set_up(*job, std::move(frame.fd)));
  }
  if (kind == "run") {
    const auto job = sandbox::decode_run_job(frame.body);
    if (job) return encode(candidate.run(*job));
  }
  if (kind == "time") {
    const auto job = sandbox::decode_time_job(frame.body);
    if (job) return encode(candidate.time(*job));
  }
  if (kind == "count") {
    const auto job = sandbox::decode_count_job(frame.body);
    if (job) return encode(candidate.count(*job));
  }
  if (kind == "device") {
    const auto wanted = sandbox::decode_device_facts(frame.body);
    if (wanted) return encode(facts_of(profile_for(wanted->target)));
  }
  return {};
}

// Out of memory and the like: an answer that says so, of the kind that was asked for.
std::string failure(const Frame& frame, const std::string& what) {
  if (sandbox::kind_of_message(frame.body) == "setup") {
    sandbox::SetupReply reply;
    reply.problem = what;
    return encode(reply);
  }
  sandbox::RunReply reply;
  reply.problem = what;
  return encode(reply);
}

}  // namespace

int serve_emulated(FrameChannel& host) {
  deny_all_files();
  ProcessLimits limits;
  limits.data_bytes = kDataBytesMax;
  limits.descriptors = kDescriptorsMax;
  apply(limits);
  keep_few_system_calls();
  leave_with_the_host(host.fd());
  EmulatedCandidate candidate;
  for (;;) {
    auto received = host.receive({});
    if (const ChannelEnd* end = std::get_if<ChannelEnd>(&received)) return end->kind == ChannelEnd::Kind::closed ? 0 : 1;
    Frame& frame = std::get<Frame>(received);
    std::string reply;
    try {
      reply = answer(candidate, frame);
    } catch (const std::exception& error) {
      reply = failure(frame, error.what());
    }
    if (reply.empty() || host.send(frame.nonce, reply, -1, {})) return 1;
  }
}

}  // namespace onelaunch::worker
