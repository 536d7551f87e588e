#pragma once
// From what launches and chains took to measurements.

#include <algorithm>
#include <vector>

#include "sandbox/host/sandbox.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {

// One context's time from the launches of its steps, the last of which counts. Each inner list is a step.
Measurement measurement_of(std::int64_t context, const std::vector<std::vector<LaunchResult>>& steps);

double median_of(std::vector<double> values);  // 0 of none

// Adds one look at the clocks to the extremes kept in `seen`: DeviceTimes, or anything with the same members.
template <class Seen>
void see_clocks(Seen& seen, const ClockState& now) {
  seen.sm_mhz_low = seen.sm_mhz_high == 0 ? now.sm_mhz : std::min(seen.sm_mhz_low, now.sm_mhz);
  seen.sm_mhz_high = std::max(seen.sm_mhz_high, now.sm_mhz);
  seen.memory_mhz = now.memory_mhz;
  seen.power_w_high = std::max(seen.power_w_high, now.power_mw / 1000);
  seen.temperature_c_high = std::max(seen.temperature_c_high, now.temperature_c);
  seen.throttle_reasons |= now.throttle_reasons;
}

// Strict inputs that cost more than this over nominal ones give the time: work must not depend on the distribution.
constexpr double kStrictOverNominalMax = 1.02;
void apply_strict(std::vector<Measurement>& nominal, const Measurement& strict);

}  // namespace onelaunch::sandbox
