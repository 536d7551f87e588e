#pragma once
// The task's unfused kernels as a Reference: a worker of its own on the GPU, with all sets of weights.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/host/device_session.h"
#include "sandbox/host/gpu_layout.h"
#include "sandbox/host/reference.h"
#include "tasks/device_generator.h"
#include "tasks/eager.h"

namespace onelaunch::sandbox {

class GpuReference final : public Reference {
 public:
  struct Parts {
    const tasks::Task& task;
    const GpuLayout& layout;
    ModuleSpec generator, eager, harness;  // kGeneratorModule, kEagerModule, kHarnessModule, compiled for the device
    tasks::GeneratorDevice generator_device;
    std::uint64_t weight_seed = 0;
    std::int64_t capacity = 0;  // most rows of a cache that a chain will have
  };
  // Makes the weights. The session's worker becomes the reference's.
  static Result<std::unique_ptr<GpuReference>> start(Parts parts, DeviceSession session, Deadline deadline);

  // Until when, and by whom, the calls that follow may be cut short. A reference that was cut short is not usable any more.
  void watch(const Interrupts::Scope& interrupts, Deadline deadline);
  bool usable() const { return usable_; }

  Result<void> reset(const ChainStart& start) override;
  Result<tasks::Bytes> draw(int step, int weight_set) override;
  Result<std::vector<tasks::Bytes>> step() override;
  Result<std::vector<tasks::Bytes>> states() override;

  // Times one token of the unfused kernels at `context`, on weight sets in turn. graph: replayed as a CUDA graph.
  Result<std::vector<ChainSample>> time_tokens(std::int64_t context, bool graph, int samples);
  int launches() const { return static_cast<int>(plan_.launches.size()); }

  // SHA-256 of every weight of set 0, in task order: to be compared with those made on the CPU.
  Result<std::vector<std::string>> weight_digests(tasks::InputSet inputs);

 private:
  GpuReference(Parts parts, DeviceSession session);
  Result<void> set_up(Deadline deadline);
  Result<RunReply> run(RunJob job);
  std::vector<LaunchOrder> token_launches(int weight_set) const;
  // Whether the token keeps every routed layer away from a tie; then its outputs are those of the step.
  Result<bool> attempt(const tasks::Bytes& token);
  Result<bool> route(RunJob job, const tasks::EagerRouting& routing);

  Parts parts_;
  DeviceSession session_;
  tasks::EagerPlan plan_;
  ChainStart start_;
  std::int64_t position_ = 0;
  std::vector<tasks::Bytes> outputs_;     // of the step that was drawn
  bool tried_ = false;                    // the states on the device are those after a step that was not taken
  bool usable_ = true;
  Deadline deadline_{};
};

}  // namespace onelaunch::sandbox
