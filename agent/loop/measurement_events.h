#pragma once
// The measurement events of what a clock said.

#include <cstdint>
#include <string>

#include "agent/loop/measured_rule.h"
#include "sandbox/host/sandbox.h"
#include "traces/event.h"

namespace onelaunch::agent {

// The score of one context, with what stands beside it on a GPU: other timings and the state of the clocks.
traces::Measurement primary_event(const std::string& id, const sandbox::Measurement& time);
traces::Measurement paired_event(const std::string& id, const std::string& against, int worker,
                                 const sandbox::PairedTimes& pairs, const WorkerGain& gain);

// "sw_power_cap, hw_thermal": names of NVML's bits; an idle GPU is not throttled.
std::string throttle_names(std::uint64_t reasons);

}  // namespace onelaunch::agent
