#pragma once
// Any event in one line of plain text, for timelines.

#include <string>

#include "traces/event.h"

namespace onelaunch::traces {

std::string event_line(const Event& event);

// The candidate that an event is about; empty when it is about none.
std::string candidate_of(const Event& event);

}  // namespace onelaunch::traces
