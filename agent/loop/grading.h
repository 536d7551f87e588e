#pragma once
// One grade of a kernel, within the session's limits.

#include <string>

#include "agent/loop/workplace.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// A grade with its time attributed to gate and measure; nothing is recorded but our own failures. A time limit that the
// session's end or a wish to stop imposed says nothing about the kernel: it is an Error (unavailable).
Result<sandbox::Grade> run_grade(Workplace& place, const std::string& id, const sandbox::Compiled& compiled,
                                 const sandbox::GradeRequest& request, Deadline end);

// The same limits for what a compile said.
bool cut_by_us(const Workplace& place, const sandbox::Outcome& outcome, Deadline end);

}  // namespace onelaunch::agent
