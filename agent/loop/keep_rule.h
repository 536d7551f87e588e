#pragma once
// Keep or revert: a pure function of two sets of times.

#include <optional>
#include <string>
#include <vector>

#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// A context may lose this much, as a fraction, when the geometric mean gains.
constexpr double kContextLossMax = 0.005;

struct KeepDecision {
  bool keep = false;
  double us = 0;     // the candidate's score
  double ratio = 0;  // incumbent's score over the candidate's: above 1 is faster
  std::string reason;
};

// Modelled times are deterministic: any gain in the score above min_gain (a fraction) counts, unless one context loses
// more than kContextLossMax. Both sides have a time for each context of the sweep.
KeepDecision decide_modelled(const std::vector<sandbox::Measurement>& incumbent,
                             const std::vector<sandbox::Measurement>& candidate, double min_gain);

// The same on a part of the contexts, after a quick check: a decision only when the candidate cannot be kept any more,
// because one of them loses too much. Its us is then absent (0) and its ratio is that context's.
std::optional<KeepDecision> screen_modelled(const std::vector<sandbox::Measurement>& incumbent,
                                            const std::vector<sandbox::Measurement>& quick);

}  // namespace onelaunch::agent
