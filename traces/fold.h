#pragma once
// A session's state as a fold over its events: what resume, view, leaderboard and card.json read.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/event.h"

namespace onelaunch::traces {

struct Attempt {
  Candidate candidate;
  std::optional<Compile> compile;
  std::vector<Gate> gates;
  std::vector<Measurement> measurements;
  std::optional<Decision> decision;
  double t = 0;                        // active seconds when it was proposed
};

struct SessionState {
  std::optional<SessionStart> start;
  std::optional<DeviceSeen> device;
  std::optional<Ceilings> ceilings;
  std::map<std::string, Baseline> baselines;
  std::vector<Attempt> attempts;       // in order of proposal
  std::map<std::string, std::size_t> attempt_of;  // id -> index
  std::string best;                    // id of the last checkpoint's candidate; the incumbent
  std::optional<double> best_us, seed_us;
  std::optional<Regrade> regrade;
  std::optional<SessionEnd> end;
  std::vector<std::string> notes;
  int decisions = 0, kept = 0, legs = 1;
  double active_s = 0;
  void apply(const Record& record);
};

}  // namespace onelaunch::traces
