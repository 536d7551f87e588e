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
    case StopReason::model_refused:
      return "model_refused";
    case StopReason::authentication:
      return "authentication";
    case StopReason::quota:
      return "quota";
    case StopReason::provider_outage:
      return "provider_outage";
    case StopReason::context_overflow:
      return "context_overflow";
    case StopReason::loop:
      return "loop";
  }
  return "error";
}

}  // namespace onelaunch::agent
