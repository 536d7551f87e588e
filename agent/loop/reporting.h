#pragma once
// What the author of a candidate is told about it, and what goes on record.

#include <optional>
#include <string>

#include "agent/loop/agent.h"
#include "agent/loop/judgement.h"
#include "agent/loop/opening.h"
#include "traces/event.h"

namespace onelaunch::agent {

std::optional<double> ratio_of(const std::optional<double>& reference, const std::optional<double>& us);

// `min_gain`: of modelled times, which are decided here.
Report report_on(const std::string& id, const Proposal& proposal, const Judgement& judgement, const Opened& opened,
                 double left_s, double min_gain);
traces::Decision decision_event(const Report& report, double seconds);

// Reads back what decision_event wrote.
void read_decision(const traces::Decision& decision, Report& report);

}  // namespace onelaunch::agent
