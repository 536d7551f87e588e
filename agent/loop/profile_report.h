#pragma once
// A kernel's profile as text for its author, and as an event of the trace.

#include <string>

#include "sandbox/host/profile.h"
#include "traces/event.h"

namespace onelaunch::agent {

// Several lines: times by phase, the critical path, probes, resources, machine code.
std::string profile_text(const sandbox::KernelProfile& profile);

// `candidate`: its id. Of a kernel that passed.
traces::Profile profile_event(const std::string& candidate, const sandbox::KernelProfile& profile);

}  // namespace onelaunch::agent
