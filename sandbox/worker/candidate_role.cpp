#include "sandbox/worker/candidate_role.h"

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/confinement.h"
#include "sandbox/worker/emulated_candidate.h"
#include "sandbox/worker/serve.h"
#include "sandbox/worker/system_calls.h"

namespace onelaunch::worker {
namespace {

using sandbox::Frame;
using sandbox::FrameChannel;

constexpr std::uint64_t kDataBytesMax = std::uint64_t{6} << 30;
constexpr std::uint64_t kDescriptorsMax = 64;

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
    if (wanted) return encode(facts_of(emu::profile_of_target(wanted->target)));
  }
  return {};
}

}  // namespace

int serve_emulated(FrameChannel& host) {
  deny_all_files();
  ProcessLimits limits;
  limits.data_bytes = kDataBytesMax;
  limits.descriptors = kDescriptorsMax;
  apply(limits);
  keep_few_system_calls(Device::emulated);
  leave_with_the_host(host.fd());
  EmulatedCandidate candidate;
  return serve(host, [&](Frame& frame) { return answer(candidate, frame); });
}

}  // namespace onelaunch::worker
