#pragma once
// The GPU reference judges candidates, so it is judged first: by the float64 oracle, on weights made on the CPU.

#include <vector>

#include "sandbox/host/gpu_reference.h"
#include "sandbox/host/sandbox.h"
#include "sandbox/host/weights.h"

namespace onelaunch::sandbox {

// Its error must be this much smaller than what a candidate is allowed: all elements together, and a single one. One
// result near a tie that is rounded to bf16 the other way moves single elements, and hardly the whole.
constexpr double kReferenceShare = 0.25, kReferenceElementShare = 0.5;

// Weights bit for bit, then two steps on each kind of inputs at the shortest and the longest context. Gives the gates
// (the closest passes). Fails (internal) with the first difference. `weights`: of set 0, nominal and strict.
Result<std::vector<GateResult>> check_reference(const tasks::Task& task, GpuReference& reference, const Weights& nominal,
                                                const Weights& strict, int threads, std::uint64_t seed);

}  // namespace onelaunch::sandbox
