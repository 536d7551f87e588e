#include "agent/loop/baselines.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace onelaunch::agent {
namespace {

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

void measure_baseline(Workplace& place, const std::string& name, Deadline end, Opened& opened) {
  place.observer.busy("baseline " + name);
  const auto baseline = run_baseline(place, name, end);
  if (!baseline) return leave_out(place, name, "could not be run: " + baseline.error().message);
  place.recorder.baseline(*baseline);
  if (baseline->times.empty()) return leave_out(place, name, "gave no time");
  if (!std::ranges::all_of(baseline->gates, &sandbox::GateResult::passed))
    return leave_out(place, name, "gave a wrong answer");
  opened.baseline = baseline->name;
  opened.baseline_us = sandbox::score_us(baseline->times);
  char us[48];
  std::snprintf(us, sizeof us, "%.2f us", *opened.baseline_us);
  place.observer.say("baseline", baseline->name + " " + us + " " + kind_of(baseline->times) + ", " +
                                     std::to_string(baseline->launches) + " launches a token");
}

}  // namespace

void measure_baselines(Workplace& place, Deadline end, Opened& opened) {
  const Spending spending(place.meter, Spent::measure);
  const Seconds start = place.clock.now();
  bool first = true;
  for (const std::string& name : place.sandbox.baselines()) {
    if (place.stopping() || end.passed(place.clock)) return;
    measure_baseline(place, name, end, opened);
    // The first one also makes the weights and the reference, which the closing will need once more.
    if (std::exchange(first, false) && !place.modelled()) place.budget.saw_set_up(place.clock.now() - start);
  }
}

}  // namespace onelaunch::agent
