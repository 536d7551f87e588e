#include "agent/loop/judgement.h"

namespace onelaunch::agent {

Judgement unjudged(const Workplace& place, Deadline end, const std::string& why) {
  Judgement judgement;
  judgement.cut_short = place.stopping() || end.passed(place.clock);
  judgement.why = place.stopping()          ? "the session was asked to stop"
                  : end.passed(place.clock) ? "the session's time for new work ran out"
                                            : "our own failure: " + why;
  return judgement;
}

}  // namespace onelaunch::agent
