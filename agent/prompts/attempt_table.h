#pragma once
// What has been tried, as a table for a model.

#include <cstddef>
#include <string>
#include <vector>

#include "agent/loop/agent.h"

namespace onelaunch::agent {

// Markdown, the oldest first. Of more than kTableRowsMax attempts all kept ones and the newest are shown, as far as they
// fit, and it is said how many are not. "None yet, but the seed." when there is nothing else.
constexpr std::size_t kTableRowsMax = 60;
std::string attempt_table(const std::vector<Report>& history);

}  // namespace onelaunch::agent
