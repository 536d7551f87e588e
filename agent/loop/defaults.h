#pragma once
// The tunables that a proposal leaves open.

#include "agent/loop/agent.h"

namespace onelaunch::agent {

// Names every tunable of the source, so that the record shows what was tried. A proposal whose tunables are not those
// of its source stays as it is: compiling it says what is wrong.
void fill_defaults(Proposal& proposal);

}  // namespace onelaunch::agent
