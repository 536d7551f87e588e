#pragma once
// Role "cuda:N": modules on a GPU, their buffers, and the launches that the host orders.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "sandbox/protocol/frame.h"
#include "sandbox/worker/cuda_candidate.h"

namespace onelaunch::worker {

// What is loaded with dlopen, or why not.
struct CudaLibraries {
  Result<cuda::Driver> driver;
  cuda::NvmlFunctions nvml;
  Result<cuda::CuptiFunctions> cupti;
};
CudaLibraries load_cuda_libraries();

// Answers the host's messages about one GPU, which is opened when something is first asked of it.
class CudaServer {
 public:
  // `confine`: called once, after the first set-up that went well and before anything is launched.
  CudaServer(CudaLibraries libraries, int ordinal, const Clock& clock, PrintedOutput& printed, std::function<void()> confine);

  std::string answer(const sandbox::Frame& frame);
  // No further question can be answered: a kernel broke the context, or runs for ever.
  bool lost() const { return candidate_ && candidate_->lost(); }

 private:
  std::optional<std::string> open();
  std::string set_up(const sandbox::SetupJob& job);

  CudaLibraries libraries_;
  int ordinal_;
  const Clock& clock_;
  PrintedOutput& printed_;
  std::function<void()> confine_;
  std::unique_ptr<cuda::Device> device_;
  std::unique_ptr<CudaCandidate> candidate_;
};

// Gives up files, network and most system calls once everything is loaded and allocated; serves until the host closes
// the connection or a kernel broke the context, and ends the process: after a fault there is nothing to be tidied up.
[[noreturn]] void serve_cuda(sandbox::FrameChannel& host, int ordinal, const Clock& clock);

}  // namespace onelaunch::worker
