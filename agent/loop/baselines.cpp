#include "agent/loop/baselines.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace onelaunch::agent {
namespace {

// By how much they tell a user who would run one of them instead; of others the later.
constexpr std::string_view kTelling[] = {"eager", "graph", "torch", "torch-graph", "torch-compile"};

std::ptrdiff_t telling(const std::string& name) {
  const auto found = std::ranges::find(kTelling, name);
  return found == std::end(kTelling) ? -1 : found - std::begin(kTelling);
}

void leave_out(Workplace& place, const std::string& name, const std::string& why) {
  place.observer.say("baseline", name + " " + why);
  place.recorder.write(traces::Note{.author = "onelaunch", .text = "baseline " + name + " " + why});
}

// A lost worker is our failure and worth another try; all else that is missing will stay missing.
Result<sandbox::BaselineResult> run_baseline(Workplace& place, const std::string& name, Deadline end) {
  for (int tries = 1;; ++tries) {
    auto baseline = place.sandbox.baseline(name, end);
    if (baseline || baseline.error().kind != Error::Kind::worker_lost) return baseline;
    if (place.stopping() || end.passed(place.clock)) return baseline;
    place.recorder.infra_error("baseline " + name + ": " + baseline.error().message, "");
    if (tries >= place.limits.tries) return baseline;
  }
}

// On a GPU a baseline may be another program, which must not eat a short session.
Deadline limited(const Workplace& place, Deadline end) {
  if (place.modelled()) return end;
  const double share = place.limits.baseline_share_max * end.left(place.clock).count();
  return place.within(std::min(place.limits.baseline_s, share), end);
}

void measure_baseline(Workplace& place, const std::string& name, Deadline end, Opened& opened) {
  place.observer.busy("baseline " + name);
  const auto baseline = run_baseline(place, name, end);
  if (!baseline) return leave_out(place, name, "could not be run: " + baseline.error().message);
  place.recorder.baseline(*baseline);
  if (baseline->times.empty()) return leave_out(place, name, "gave no time");
  if (!std::ranges::all_of(baseline->gates, &sandbox::GateResult::passed))
    return leave_out(place, name, "gave a wrong answer");
  const double score = sandbox::score_us(baseline->times);
  if (opened.baseline.empty() || telling(name) >= telling(opened.baseline))
    opened.baseline = name, opened.baseline_us = score;
  char us[48];
  std::snprintf(us, sizeof us, "%.2f us", score);
  place.observer.say("baseline", baseline->name + " " + us + " " + kind_of(baseline->times) + ", " +
                                     std::to_string(baseline->launches) + " launches a token");
}

}  // namespace

void measure_baselines(Workplace& place, Deadline end, Opened& opened) {
  const Spending spending(place.meter, Spent::measure);
  for (const std::string& name : place.sandbox.baselines()) {
    if (place.stopping() || end.passed(place.clock)) return;
    const Seconds start = place.clock.now();
    measure_baseline(place, name, limited(place, end), opened);
    // It also makes the weights and the reference, which the closing will need once more.
    if (name == "eager" && !place.modelled()) place.budget.saw_set_up(place.clock.now() - start);
  }
}

}  // namespace onelaunch::agent
