#pragma once
// Words for what a session or a grade says.

#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::cli {

// A report for its author: several lines.
std::string report_text(const agent::Report& report);
// The same in one line of a running log.
std::string report_line(const agent::Report& report);
// Outcome, gates and times of one grade, phases included.
std::string grade_text(const sandbox::Grade& grade);
// {"A=1", ...}
Result<sandbox::TunableValues> parse_defines(const std::vector<std::string>& defines);

}  // namespace onelaunch::cli
