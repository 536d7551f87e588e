#pragma once
// What a user would run instead of a megakernel, timed on the same device.

#include "agent/loop/opening.h"
#include "agent/loop/workplace.h"

namespace onelaunch::agent {

// All that the sandbox knows. One that cannot be run leaves a note: a session goes on without, as decisions compare
// with the incumbent. The last right one that gave times is the session's.
void measure_baselines(Workplace& place, Deadline end, Opened& opened);

}  // namespace onelaunch::agent
