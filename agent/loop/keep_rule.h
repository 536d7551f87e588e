#pragma once
// Keep or revert: a pure function of two sets of modelled times (agent/loop/measured_rule.h has the one of measured
// ones).

#include <optional>
#include <string>
#include <vector>

#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// A context may lose this much, as a fraction, when the geometric mean gains.
constexpr double kContextLossMax = 0.005;

struct KeepDecision {
  bool keep = false;
  bool quarantine = false;   // too good or too odd to be true: kept out until it is explained
  double us = 0;             // the candidate's score
  double ratio = 0;          // incumbent's score over the candidate's: above 1 is faster
  double low = 0, high = 0;  // its 95 % interval; that of modelled times is the ratio itself
  int n = 1;                 // samples behind the ratio: pairs when measured
  int workers = 0;           // measured: that confirmed
  int discarded = 0;         // measured: pairs left out
  std::string reason;
};

// "1.02 % faster", of a gain as a fraction.
std::string describe_gain(double gain);
std::string print_percent(double fraction);

// Modelled times are deterministic: any gain in the score above min_gain (a fraction) counts, unless one context loses
// more than kContextLossMax. Both sides have a time for each context of the sweep.
KeepDecision decide_modelled(const std::vector<sandbox::Measurement>& incumbent,
                             const std::vector<sandbox::Measurement>& candidate, double min_gain);

// The same on a part of the contexts, after a quick check: a decision only when the candidate cannot be kept any more,
// because one of them loses too much. Its us is then absent (0) and its ratio is that context's.
std::optional<KeepDecision> screen_modelled(const std::vector<sandbox::Measurement>& incumbent,
                                            const std::vector<sandbox::Measurement>& quick);

}  // namespace onelaunch::agent
