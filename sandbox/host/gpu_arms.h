#pragma once
// The kernels that one GPU worker holds side by side: the candidate, and for paired times the one that it is compared
// with. They share weights, timed scratch and sync, so that nothing but their code differs.

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/host/candidate_run.h"
#include "sandbox/host/gpu_layout.h"
#include "sandbox/host/timed_case.h"

namespace onelaunch::sandbox {

constexpr const char* kAgainstModule = "against";

class GpuArm {
 public:
  // Borrows all. `module`: the name that it is loaded under.
  GpuArm(const tasks::Task& task, const GpuLayout& layout, std::string module, const Compiled& compiled)
      : task_(task), layout_(layout), module_(std::move(module)), compiled_(compiled) {}

  const std::string& module() const { return module_; }
  const Compiled& compiled() const { return compiled_; }
  ModuleSpec spec() const { return {module_, compiled_.ptx, compiled_.cubin}; }

  // What its prepare kernels fill, for every weight set.
  std::vector<BufferSpec> prepared_buffers() const;
  // Its own buffers on a weight set: what "prepared" means there, and whose scratch and sync are used.
  Redirections places(WeightSet set, bool timed) const;
  // Runs the prepare kernels for every weight set; what they made can then be read only.
  Step prepare(CandidateRun& run) const;
  // A chain's launches before they are redirected, positions and epochs counting up.
  TimedCase::Arm timed(const CandidateRun& run, const TimedCase& of) const;

 private:
  std::string prepared_buffer(WeightSet set) const;

  const tasks::Task& task_;
  const GpuLayout& layout_;
  std::string module_;
  const Compiled& compiled_;
};

// Scratch and sync for timing, as large as the larger of both wants.
std::vector<BufferSpec> timed_workspace(const std::vector<GpuArm>& arms);
// Undefined scratch and zero sync, as before every chain.
void reset_workspace(const std::vector<GpuArm>& arms, std::uint64_t seed, std::vector<BufferFill>& fills);

}  // namespace onelaunch::sandbox
