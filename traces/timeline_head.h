#pragma once
// What stands above and below a timeline: the session's terms, and how it came out.

#include <string>

#include "traces/fold.h"

namespace onelaunch::traces {

std::string session_head(const SessionState& state, const std::string& first_ts);
std::string session_close(const SessionState& state, const std::string& run);

}  // namespace onelaunch::traces
