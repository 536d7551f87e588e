#pragma once
// What a trace says about a session's past: for an agent that begins again, and for the account of its seconds.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "traces/event.h"
#include "traces/fold.h"

namespace onelaunch::agent {

// A report of every judged candidate, the seed first. Sources are read from the run's blobs; empty when lost.
std::vector<Report> judged_history(const traces::SessionState& state, const std::filesystem::path& run);

// Attributes the time before each event to what that event ends. For legs that ended without saying.
class PastSpending {
 public:
  void add(const traces::Record& record);
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  double last_t_ = 0;
  std::map<std::string, double> seconds_;
};

}  // namespace onelaunch::agent
