#include "sandbox/worker/cuda_role.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/confinement.h"
#include "sandbox/worker/serve.h"
#include "sandbox/worker/system_calls.h"

namespace onelaunch::worker {
namespace {

constexpr std::uint64_t kDataBytesMax = std::uint64_t{6} << 30;
// The driver reserves 13 GiB of addresses, and as many as there are bytes in buffers; so much more may come.
constexpr std::uint64_t kAddressBytesMin = std::uint64_t{32} << 30, kAddressBytesMore = std::uint64_t{16} << 30;
constexpr std::uint64_t kDescriptorsMax = 256;

std::uint64_t address_bytes_now() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// From here on the process runs candidate code. System calls stay allowed as far as copying, NVML and CUPTI take them
// between launches; launching itself takes none.
void confine() {
  ProcessLimits limits;
  limits.address_space_bytes = std::max(kAddressBytesMin, address_bytes_now() + kAddressBytesMore);
  limits.data_bytes = kDataBytesMax;
  limits.file_bytes = kDataBytesMax;  // the driver may keep memory in anonymous files
  limits.descriptors = kDescriptorsMax;
  deny_all_files();
  apply(limits);
  keep_few_system_calls(Device::gpu);
}

// One use brings in what CUPTI needs, before files are out of reach.
Result<cuda::ActivityRecorder> ready_recorder(const Result<cuda::CuptiFunctions>& cupti) {
  if (!cupti) return because(cupti.error());
  auto recorder = cuda::ActivityRecorder::create(*cupti);
  if (!recorder) return recorder;
  if (auto started = recorder->start(); !started) return because(started.error());
  if (auto stopped = recorder->stop(); !stopped) return because(stopped.error());
  return recorder;
}

}  // namespace

CudaLibraries load_cuda_libraries() { return {cuda::load_driver(), cuda::load_nvml(), cuda::load_cupti()}; }

CudaServer::CudaServer(CudaLibraries libraries, int ordinal, const Clock& clock, PrintedOutput& printed, std::function<void()> confine)
    : libraries_(std::move(libraries)), ordinal_(ordinal), clock_(clock), printed_(printed), confine_(std::move(confine)) {}

std::optional<std::string> CudaServer::open() {
  if (candidate_) return std::nullopt;
  if (!libraries_.driver) return libraries_.driver.error().message;
  auto device = cuda::Device::open(*libraries_.driver, libraries_.nvml, ordinal_);
  if (!device) return device.error().message;
  device_ = std::move(*device);
  candidate_ = std::make_unique<CudaCandidate>(*device_, printed_, ready_recorder(libraries_.cupti), clock_);
  return std::nullopt;
}

std::string CudaServer::set_up(const sandbox::SetupJob& job) {
  const sandbox::SetupReply reply = candidate_->set_up(job);
  if (confine_ && reply.problem.empty()) std::exchange(confine_, nullptr)();
  return encode(reply);
}

std::string CudaServer::answer(const sandbox::Frame& frame) {
  const std::string kind = sandbox::kind_of_message(frame.body);
  if (auto problem = open()) return answer_with_problem(kind, *problem);
  if (kind == "device") return encode(facts_of(device_->properties()));
  if (kind == "setup") {
    const auto job = sandbox::decode_setup_job(frame.body);
    if (job) return set_up(*job);
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

void serve_cuda(sandbox::FrameChannel& host, int ordinal, const Clock& clock) {
  // Loading a kernel at its first launch can wait for the device to be idle, which it is not behind a closed gate.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  leave_with_the_host(host.fd());
  PrintedOutput printed(STDOUT_FILENO);
  CudaServer server(load_cuda_libraries(), ordinal, clock, printed, confine);
  ::_exit(serve(host, [&](const sandbox::Frame& frame) { return server.answer(frame); }, [&] { return server.lost(); }));
}

}  // namespace onelaunch::worker
