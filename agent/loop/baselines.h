#pragma once
// What a user would run instead of a megakernel, timed on the same device.

#include "agent/loop/opening.h"
#include "agent/loop/workplace.h"

namespace onelaunch::agent {

// All that the sandbox knows. One that cannot be run leaves a note: a session goes on without, as decisions compare
// with the incumbent. The most telling right one that gave times is the session's: torch-compile before torch-graph,
// torch, graph and eager.
void measure_baselines(Workplace& place, Deadline end, Opened& opened);

}  // namespace onelaunch::agent
