#pragma once
// A session's state as a fold over its events: what resume, view, leaderboard and card.json read.

#include <cstdint>
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
  std::uint64_t seq = 0;               // of its candidate event
  bool is_seed() const { return candidate.parent.empty(); }
};

struct SessionState {
  std::optional<SessionStart> start;
  std::optional<DeviceSeen> device;
  std::optional<Ceilings> ceilings;
  std::optional<Noise> noise;
  std::vector<Control> controls;
  std::map<std::string, Baseline> baselines;
  std::vector<Attempt> attempts;       // in order of proposal
  std::map<std::string, std::size_t> attempt_of;  // id -> index
  std::string best;                    // id of the last checkpoint's candidate; the incumbent
  std::optional<double> best_us, seed_us;  // scores; gone after a resume on another device, until measured anew
  bool seed_us_remeasured = false, best_us_remeasured = false;  // they come from measurements after such a resume
  double best_t = 0;                   // active seconds when the best was kept
  std::optional<Regrade> regrade;
  std::optional<SessionEnd> end;
  std::vector<std::string> notes;
  int decisions = 0, kept = 0;         // the seed's own decision is in neither
  int legs = 1;                        // 1 + resumes
  int infra_errors = 0, model_turns = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0;
  double cost_usd = 0;                 // of the responses that say what they cost
  bool cost_told = false;              // one of them did
  std::string model;                   // the last one that answered
  double active_s = 0;                 // t of the last event
  std::string last_ts;

  void apply(const Record& record);
  const Attempt* find(const std::string& candidate) const;  // null when there is none
  // "modelled" or "measured"; empty before anything says so.
  std::string kind() const;
  // The times of a candidate's primary measurements by context, the newest of each.
  std::map<std::int64_t, ContextTime> times_of(const std::string& candidate) const;
  // The baseline that a headline compares with: the one the session ended on, else the strongest there is
  // (torch-compile, torch-graph, torch, graph, eager). Null when there is none.
  const Baseline* baseline() const;
  // The closing re-grade passed, and it was of the best.
  bool verified() const;
};

// Geometric mean of the medians; nothing when there are none or one is not positive.
std::optional<double> score_of(const std::vector<ContextTime>& times);
std::optional<double> score_of(const std::map<std::int64_t, ContextTime>& times);

}  // namespace onelaunch::traces
