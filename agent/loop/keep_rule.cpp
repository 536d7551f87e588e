#include "agent/loop/keep_rule.h"

#include <cmath>
#include <cstdio>
#include <map>

namespace onelaunch::agent {
namespace {

std::map<std::int64_t, double> by_context(const std::vector<sandbox::Measurement>& times) {
  std::map<std::int64_t, double> us;
  for (const auto& time : times) us[time.context] = time.us_median;
  return us;
}

}  // namespace

std::string print_percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * fraction);
  return text;
}

std::string describe_gain(double gain) {
  return gain >= 0 ? print_percent(gain) + " faster" : print_percent(-gain) + " slower";
}

std::optional<KeepDecision> screen_modelled(const std::vector<sandbox::Measurement>& incumbent,
                                            const std::vector<sandbox::Measurement>& quick) {
  const auto before = by_context(incumbent);
  for (const auto& time : quick) {
    const auto known = before.find(time.context);
    if (known == before.end() || !(known->second > 0)) continue;
    const double loss = time.us_median / known->second - 1;
    if (loss <= kContextLossMax) continue;
    return KeepDecision{.keep = false,
                        .us = 0,
                        .ratio = 1 / (1 + loss),
                        .low = 1 / (1 + loss),
                        .high = 1 / (1 + loss),
                        .reason = print_percent(loss) + " slower than the incumbent at context " +
                                  std::to_string(time.context) + ", in a quick check"};
  }
  return std::nullopt;
}

KeepDecision decide_modelled(const std::vector<sandbox::Measurement>& incumbent,
                             const std::vector<sandbox::Measurement>& candidate, double min_gain) {
  const auto before = by_context(incumbent);
  KeepDecision decision;
  decision.us = sandbox::score_us(candidate);
  const double incumbent_us = sandbox::score_us(incumbent);
  if (before.size() != candidate.size() || !(decision.us > 0) || !(incumbent_us > 0)) {
    decision.reason = "not timed on the same contexts as the incumbent";
    return decision;
  }
  decision.ratio = decision.low = decision.high = incumbent_us / decision.us;
  const double gain = decision.ratio - 1;
  if (gain <= min_gain) {
    decision.reason = describe_gain(gain) + " than the incumbent; more than " + print_percent(min_gain) + " is asked";
    return decision;
  }
  for (const auto& time : candidate) {
    const auto known = before.find(time.context);
    const double loss = known == before.end() ? INFINITY : time.us_median / known->second - 1;
    if (loss <= kContextLossMax) continue;
    decision.reason = describe_gain(gain) + " on average, but " + print_percent(loss) + " slower at context " +
                      std::to_string(time.context);
    return decision;
  }
  decision.keep = true;
  decision.reason = describe_gain(gain) + " than the incumbent";
  return decision;
}

}  // namespace onelaunch::agent
