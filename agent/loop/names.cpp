#include "agent/loop/agent.h"
#include "agent/loop/stop.h"

namespace onelaunch::agent {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::keep:
      return "keep";
    case Verdict::revert:
      return "revert";
    case Verdict::reject:
      return "reject";
    case Verdict::quarantine:
      return "quarantine";
    case Verdict::unjudged:
      return "unjudged";
  }
  return "unjudged";
}

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::cap:
      return "cap";
    case StopReason::finished:
      return "finished";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::budget:
      return "budget";
    case StopReason::error:
      return "error";
  }
  return "error";
}

}  // namespace onelaunch::agent
