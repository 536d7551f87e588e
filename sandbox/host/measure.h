#pragma once
// Modelled times of launches as measurements.

#include <vector>

#include "sandbox/host/sandbox.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {

// One context's time from the launches of its steps, the last of which counts. Each inner list is a step.
Measurement measurement_of(std::int64_t context, const std::vector<std::vector<LaunchResult>>& steps);

// Strict inputs that cost more than this over nominal ones give the time: work must not depend on the distribution.
constexpr double kStrictOverNominalMax = 1.02;
void apply_strict(std::vector<Measurement>& nominal, const Measurement& strict);

}  // namespace onelaunch::sandbox
