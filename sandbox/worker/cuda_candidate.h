#pragma once
// Modules and buffers on a GPU, worked by the host's messages: as EmulatedCandidate, but real.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/cuda/activity.h"
#include "sandbox/cuda/device.h"
#include "sandbox/cuda/gate.h"
#include "sandbox/cuda/handles.h"
#include "sandbox/cuda/sweep.h"
#include "sandbox/protocol/messages.h"
#include "sandbox/worker/cuda_buffers.h"
#include "sandbox/worker/cuda_launch.h"
#include "sandbox/worker/printed_output.h"

namespace onelaunch::worker {

sandbox::DeviceFacts facts_of(const cuda::DeviceProperties& properties);

class CudaCandidate {
 public:
  // Borrows all but the recorder. `recorder`: what counts launches, or why nothing does.
  CudaCandidate(const cuda::Device& device, PrintedOutput& printed, Result<cuda::ActivityRecorder> recorder, const Clock& clock);

  sandbox::SetupReply set_up(const sandbox::SetupJob& job);
  sandbox::RunReply run(const sandbox::RunJob& job);
  // These need the module "harness" with the kernels ol_gate and ol_sweep.
  sandbox::TimeReply time(const sandbox::TimeJob& job);
  sandbox::CountReply count(const sandbox::CountJob& job);

  // A kernel broke the context or has not returned: nothing works any more, and the process has to be replaced.
  bool lost() const { return lost_; }

 private:
  struct Chain;  // a TimedChain with everything that can be made before it is first run
  // What timing needs beside the candidate.
  struct Tools {
    cuda::Gate gate;
    cuda::Sweep sweep;
    cuda::Event begin, end;
  };
  Problem load(const std::vector<sandbox::ModuleSpec>& specs, std::vector<std::string>& entries);
  Problem make_tools();
  Problem checked(CUresult result, const char* call);
  // Notes when the context is lost.
  Ended noted(Ended ended);
  Problem make_ready(const sandbox::LaunchOrder& order, ReadyLaunch& ready) const;
  Problem keep(const std::vector<sandbox::LaunchOrder>& orders);
  Problem launch_all(const std::vector<sandbox::LaunchOrder>& orders, sandbox::RunReply& reply);
  Problem launch_kept(const sandbox::KeptLaunches& which, sandbox::RunReply& reply);
  Problem launch_one(const sandbox::LaunchOrder& order, bool wait, sandbox::LaunchResult& result);
  // Waits until the stream is idle, at most so long.
  Ended finish(const std::string& entry, double seconds);
  // As finish(); afterwards what was printed has arrived.
  Ended finish_and_print(const std::string& entry, double seconds);

  Ended make_chain(const sandbox::TimedChain& order, bool graph, Chain& chain);
  Problem capture(Chain& chain);
  Problem restore(const Chain& chain, bool cold);
  CUresult enqueue(const Chain& chain);
  Ended run_gated(const Chain& chain, sandbox::ChainSample& sample, bool& gate_held);
  Ended sample(const Chain& chain, bool cold, sandbox::ChainSample& sample);
  Ended run_counted(const Chain& chain, cuda::Activity& activity);

  const cuda::Device& device_;
  const cuda::Driver& driver_;
  PrintedOutput& printed_;
  Result<cuda::ActivityRecorder> recorder_;
  const Clock& clock_;
  bool lost_ = false;
  std::optional<cuda::Stream> stream_;  // outlives what is used in it
  std::map<std::string, cuda::Module> modules_;
  CudaBuffers buffers_;
  std::vector<ReadyLaunch> kept_;
  std::optional<Tools> tools_;
};

}  // namespace onelaunch::worker
