#include "sandbox/worker/cuda_role.h"

#include <memory>
#include <optional>

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/confinement.h"
#include "sandbox/worker/cuda_candidate.h"
#include "sandbox/worker/serve.h"
#include "sandbox/worker/system_calls.h"

namespace onelaunch::worker {
namespace {

using sandbox::Frame;

constexpr std::uint64_t kDataBytesMax = std::uint64_t{6} << 30;

// Loading and one use bring in what CUPTI needs, before files are out of reach.
Result<cuda::ActivityRecorder> ready_recorder() {
  auto recorder = cuda::ActivityRecorder::load();
  if (!recorder) return recorder;
  if (auto started = recorder->start(); !started) return because(started.error());
  if (auto stopped = recorder->stop(); !stopped) return because(stopped.error());
  return recorder;
}

class CudaServer {
 public:
  CudaServer(int ordinal, const Clock& clock) : ordinal_(ordinal), clock_(clock) {}

  std::string answer(Frame& frame) {
    const std::string kind = sandbox::kind_of_message(frame.body);
    if (auto problem = open()) return refusal(kind, *problem);
    if (kind == "device") return encode(facts_of(device_->properties()));
    if (kind == "setup") {
      const auto job = sandbox::decode_setup_job(frame.body);
      return job ? set_up(*job) : std::string();
    }
    if (kind == "run") {
      const auto job = sandbox::decode_run_job(frame.body);
      if (job) return encode(candidate_->run(*job));
    }
    if (kind == "time") {
      const auto job = sandbox::decode_time_job(frame.body);
      if (job) return encode(candidate_->time(*job));
    }
    if (kind == "count") {
      const auto job = sandbox::decode_count_job(frame.body);
      if (job) return encode(candidate_->count(*job));
    }
    return {};
  }

 private:
  std::optional<std::string> open() {
    if (candidate_) return std::nullopt;
    auto driver = cuda::load_driver();
    if (!driver) return driver.error().message;
    driver_ = std::make_unique<cuda::Driver>(*driver);
    auto device = cuda::Device::open(*driver_, ordinal_);
    if (!device) return device.error().message;
    device_ = std::move(*device);
    candidate_ = std::make_unique<CudaCandidate>(*device_, printed_, ready_recorder(), clock_);
    return std::nullopt;
  }

  static std::string refusal(const std::string& kind, const std::string& problem) {
    if (kind == "device") {
      sandbox::DeviceFacts facts;
      facts.problem = problem;
      return encode(facts);
    }
    sandbox::SetupReply reply;
    reply.problem = problem;
    return encode(reply);
  }

  // From the first set-up on the process runs candidate code: all that needs files happened before.
  std::string set_up(const sandbox::SetupJob& job) {
    const sandbox::SetupReply reply = candidate_->set_up(job);
    if (confined_ || !reply.problem.empty()) return encode(reply);
    confined_ = true;
    deny_all_files();
    ProcessLimits limits;
    limits.data_bytes = kDataBytesMax;
    limits.file_bytes = kDataBytesMax;  // the driver may keep memory in anonymous files
    apply(limits);
    keep_few_system_calls(Device::gpu);
    return encode(reply);
  }

  int ordinal_;
  const Clock& clock_;
  PrintedOutput printed_;
  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Device> device_;
  std::unique_ptr<CudaCandidate> candidate_;
  bool confined_ = false;
};

}  // namespace

int serve_cuda(sandbox::FrameChannel& host, int ordinal, const Clock& clock) {
  leave_with_the_host(host.fd());
  CudaServer server(ordinal, clock);
  return serve(host, [&](Frame& frame) { return server.answer(frame); });
}

}  // namespace onelaunch::worker
