#pragma once
// From the stamps of launches to phases, waits and the critical path. Pure: knows no device.

#include <string>
#include <vector>

#include "sandbox/host/profile.h"
#include "sandbox/host/profile_stamps.h"

namespace onelaunch::sandbox {

struct PhaseSummary {
  double token_us = 0;                    // from the first stamp of any block to the last
  int launches = 0;                       // that the numbers are means of
  int barriers = 0;
  std::vector<ProfiledPhase> phases;
  Spread wait_us;
  double critical_us = 0, barrier_us = 0;
  std::vector<std::string> notes;
};

// Of the launches the middle half by time counts, so that a clock or a neighbour that jumps does not. What a block does
// before its first mark is the phase "(before the first mark)"; a kernel with grid barriers and no mark is one phase,
// "kernel". A phase whose name begins with "wait" counts as a wait of the grid, as grid_barrier() does.
PhaseSummary summarise(const std::vector<LaunchStamps>& launches);

Spread spread_of(std::vector<double> values);

// The first stamp of any block; 0 without stamps.
double first_stamp_us(const LaunchStamps& launch);
// The marked phase that most blocks are in at so many us after the first stamp; empty when none is.
std::string phase_at(const LaunchStamps& launch, double us);

}  // namespace onelaunch::sandbox
