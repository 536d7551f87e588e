#pragma once
// How a session stands, and how an attempt did, in words for its author.

#include <string>

#include "agent/loop/agent.h"
#include "agent/loop/workbench.h"

namespace onelaunch::agent {

// "[00:12:30 used, 01:47:30 left; 34 decisions, 5 kept; best c17 101.80 us modelled, 4.31x seed]"
std::string status_line(const Workbench::Situation& now);

// Verdict, times, ratios, the prediction against what came, and what to do next.
std::string report_text(const Report& report, const Workbench::Situation& now);

// "HH:MM:SS"
std::string clock_text(double seconds);
std::string number_text(const char* format, double value);  // printf format of one double

}  // namespace onelaunch::agent
