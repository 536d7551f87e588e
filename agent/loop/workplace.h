#pragma once
// What the parts of one session share: its ports, its budget and its record. All borrowed.

#include <algorithm>
#include <string>

#include "agent/loop/budget.h"
#include "agent/loop/limits.h"
#include "agent/loop/observer.h"
#include "agent/loop/recorder.h"
#include "agent/loop/stop.h"
#include "agent/loop/time_meter.h"
#include "base/clock.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::agent {

struct Workplace {
  const tasks::Task& task;
  sandbox::Sandbox& sandbox;
  const Clock& clock;
  Observer& observer;
  const StopRequest& stop;
  Recorder& recorder;
  Budget& budget;
  TimeMeter& meter;
  SessionLimits limits;
  int stops_tolerated = 0;  // wishes to stop that have been heeded already

  bool modelled() const { return sandbox.device().kind == "emu"; }
  bool stopping() const { return stop.times() > stops_tolerated; }
  // At most `seconds` from now, and never past the session's own end.
  Deadline within(double seconds, Deadline end) const {
    return {std::min(Deadline::after(clock, Seconds(seconds)).at, end.at)};
  }
};

// Runs a step of our own machinery. A failure is recorded and tried again, up to limits.tries in all; one that comes
// with the session's end or a wish to stop is nobody's fault and is passed on as it is.
template <class Step>
auto try_step(Workplace& place, const std::string& what, const std::string& candidate, Deadline end, Step step)
    -> decltype(step()) {
  for (int tries = 1;; ++tries) {
    auto result = step();
    if (result || place.stopping() || end.passed(place.clock)) return result;
    place.recorder.infra_error(what + ": " + result.error().message, candidate);
    const Error::Kind kind = result.error().kind;
    const bool hopeless = kind == Error::Kind::invalid_input || kind == Error::Kind::internal;
    if (hopeless || tries >= place.limits.tries) return result;
  }
}

}  // namespace onelaunch::agent
