#pragma once
// Modules and buffers on a GPU, worked by the host's messages: as EmulatedCandidate, but real.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/cuda/activity.h"
#include "sandbox/cuda/device.h"
#include "sandbox/cuda/guarded_buffer.h"
#include "sandbox/cuda/handles.h"
#include "sandbox/protocol/messages.h"
#include "sandbox/worker/cuda_launch.h"
#include "sandbox/worker/printed_output.h"

namespace onelaunch::worker {

sandbox::DeviceFacts facts_of(const cuda::DeviceProperties& properties);

class CudaCandidate {
 public:
  // Borrows all but the recorder. `recorder`: what counts launches, or why nothing does.
  CudaCandidate(cuda::Device& device, PrintedOutput& printed, Result<cuda::ActivityRecorder> recorder, const Clock& clock);
  ~CudaCandidate();

  sandbox::SetupReply set_up(const sandbox::SetupJob& job);
  sandbox::RunReply run(const sandbox::RunJob& job);
  sandbox::TimeReply time(const sandbox::TimeJob& job);
  sandbox::CountReply count(const sandbox::CountJob& job);

 private:
  struct Chain;
  using Problem = std::optional<std::string>;  // ours
  Problem add(const sandbox::BufferSpec& spec);
  // The address of a part of a buffer; 0 when there is no such part, or when it is to be written and sealed.
  CUdeviceptr part(const std::string& buffer, std::uint64_t offset, std::uint64_t bytes, bool written) const;
  Problem fill(const sandbox::BufferFill& order, const std::string& poison);
  Problem write(const sandbox::BufferWrite& order);
  Problem copy(const sandbox::BufferCopy& order);
  Problem read(const sandbox::BufferRead& order, std::vector<std::string>& reads);
  Problem make_ready(const sandbox::LaunchOrder& order, ReadyLaunch& ready) const;
  Problem launch_all(const std::vector<sandbox::LaunchOrder>& orders, sandbox::RunReply& reply);
  Problem check_canaries(const std::string& entry, std::vector<sandbox::LaunchFault>& faults) const;
  // Waits until the stream is idle. A fault of the device, or that the time was up.
  std::vector<sandbox::LaunchFault> finish(const std::string& entry, double seconds) const;

  Problem make_chain(const sandbox::TimedChain& order, bool graph, Chain& chain, std::vector<sandbox::LaunchFault>& faults);
  Problem capture(Chain& chain);
  Problem restore(const Chain& chain, bool cold);
  Problem sweep();
  Problem run_gated(const Chain& chain, double seconds, sandbox::ChainSample& sample, std::vector<sandbox::LaunchFault>& faults);
  Problem checked(CUresult result, const char* call) const;

  cuda::Device& device_;
  const cuda::Driver& driver_;
  PrintedOutput& printed_;
  Result<cuda::ActivityRecorder> recorder_;
  const Clock& clock_;
  CUstream stream_ = nullptr;
  std::map<std::string, cuda::Module> modules_;
  std::map<std::string, cuda::GuardedBuffer> buffers_;
  std::optional<cuda::HostMemory> gate_flag_;
  std::optional<cuda::GuardedBuffer> swept_;
};

}  // namespace onelaunch::worker
