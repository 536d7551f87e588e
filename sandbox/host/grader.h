#pragma once
// The correctness gate and the times of one candidate, in a worker of its own.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/interrupts.h"
#include "sandbox/host/sandbox.h"
#include "sandbox/host/weights.h"
#include "sandbox/protocol/messages.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct GradeLimits {
  double launch_s = 120;                     // one launch on the emulator, of the host's clock
  std::uint64_t instructions = 0;            // of a launch, warp instructions; 0: far more than its work can take
  std::size_t printed_bytes = 16 << 10;      // of printf output kept
};

// What every grade needs; all borrowed.
struct GradeBench {
  const tasks::Task& task;
  const DeviceFacts& device;
  std::filesystem::path worker;
  int threads = 1;                           // of the oracle
  GradeLimits limits;
  const Clock& clock;
};

using WeightsOf = std::function<Result<std::shared_ptr<const Weights>>(tasks::InputSet)>;

// Fails for our own reasons and when interrupted. Out of time in the midst of the candidate's work is its TimedOut.
Result<Grade> grade_candidate(const GradeBench& bench, const Compiled& candidate, const GradeRequest& request,
                              const WeightsOf& weights, Deadline deadline, const Interrupts::Scope& interrupts);

}  // namespace onelaunch::sandbox
