#pragma once
// Marked builds on the emulated device.

#include "sandbox/host/profiler.h"

namespace onelaunch::sandbox {

class EmulatedRunner final : public MarkedRunner {
 public:
  // Borrows all.
  EmulatedRunner(const GradeBench& bench, const Weights& weights, Deadline deadline, const Interrupts::Scope& interrupts)
      : bench_(bench), weights_(weights), deadline_(deadline), interrupts_(interrupts) {}

  Step launch(const Compiled& marked, const ProfilePlan& plan, ProfiledLaunches& launches) override;
  Probed probe(const Compiled& marked, const ProfilePlan& plan, const ProbeTable& table) override;

 private:
  // A worker with the kernel, all buffers and what the prepare kernels make.
  Result<std::variant<DeviceSession, Outcome>> start(const Compiled& marked, const ProfilePlan& plan, BufferSpec extra);

  const GradeBench& bench_;
  const Weights& weights_;
  Deadline deadline_;
  const Interrupts::Scope& interrupts_;
};

}  // namespace onelaunch::sandbox
