#pragma once
// The eager baseline on the emulated device: the task's own unfused kernels, checked like a candidate's.

#include <memory>

#include "sandbox/host/compiler.h"
#include "sandbox/host/grader.h"

namespace onelaunch::sandbox {

// Fails when our own kernels do not compile or fault; that their answers are wrong is in the gates.
Result<BaselineResult> eager_baseline(const GradeBench& bench, Compiler& compiler, const Weights& weights,
                                      Deadline deadline, const Interrupts::Scope& interrupts);

}  // namespace onelaunch::sandbox
