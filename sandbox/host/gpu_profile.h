#pragma once
// Marked builds on a GPU, in a worker of their own.

#include <string>

#include "sandbox/host/gpu_layout.h"
#include "sandbox/host/gpu_reference.h"
#include "sandbox/host/profiler.h"

namespace onelaunch::sandbox {

class GpuRunner final : public MarkedRunner {
 public:
  // All borrowed but the strings.
  struct Parts {
    const GradeBench& base;
    std::string role;                     // of the worker: "cuda:0"
    const ModuleSpec &generator, &harness;
    tasks::GeneratorDevice generator_device;
    std::uint64_t weight_seed = 0;
    GpuReference& reference;
  };
  GpuRunner(const Parts& parts, Deadline deadline, const Interrupts::Scope& interrupts)
      : parts_(parts), layout_(parts.base.task, 1), deadline_(deadline), interrupts_(interrupts) {}

  Step launch(const Compiled& marked, const ProfilePlan& plan, ProfiledLaunches& launches) override;
  // The oracle works on the CPU, on weights made there with the same bits: seconds for a large task.
  Probed probe(const Compiled& marked, const ProfilePlan& plan, const ProbeTable& table) override;

 private:
  // A worker with the kernel, the weights and what the prepare kernels make of them.
  Result<std::variant<DeviceSession, Outcome>> start(const Compiled& marked, const ProfilePlan& plan, BufferSpec extra);
  Redirections places(const Compiled& marked) const;

  Parts parts_;
  GpuLayout layout_;                      // one set of weights: a token of a large task leaves nothing of it in L2
  Deadline deadline_;
  const Interrupts::Scope& interrupts_;
};

}  // namespace onelaunch::sandbox
