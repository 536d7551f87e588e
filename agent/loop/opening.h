#pragma once
// Everything before the first idea is asked for: device, ceilings, noise, baseline, controls that must fail, and the
// kernels that candidates are compared with.

#include <optional>
#include <string>
#include <vector>

#include "agent/loop/judge.h"
#include "agent/loop/measured_rule.h"
#include "agent/loop/standing.h"
#include "agent/loop/workplace.h"

namespace onelaunch::agent {

struct Opened {
  Standing seed, incumbent;
  std::string baseline;  // name; empty when it could not be run
  std::optional<double> baseline_us;
  std::optional<NoiseFloor> noise;  // of measured times
};

// A seed of weights, states or tokens that nobody can guess.
std::uint64_t random_seed();

// Fails when a control passes, when the seed kernel does not, or when the time is over before the work began.
// `seed_source`: of a new session; a resumed one reads its sources from the trace's blobs.
Result<Opened> open_session(Workplace& place, Judge& judge, const std::string& seed_source);

}  // namespace onelaunch::agent
