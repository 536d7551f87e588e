#pragma once
// What came out of one candidate's walk through compile, gates and timing.

#include <optional>
#include <string>

#include "agent/loop/keep_rule.h"
#include "agent/loop/measured_rule.h"
#include "agent/loop/workplace.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

struct Judgement {
  bool judged = false;     // false: our failure or the session's end; `why` says which
  bool cut_short = false;  // by the session's end or a wish to stop
  std::string why;
  sandbox::Compiled compiled;
  sandbox::Grade grade;                 // its outcome is the compile's when that did not pass
  std::optional<KeepDecision> decided;  // by what was seen on the way; else the times in `grade` decide
  std::optional<Screened> screened;     // measured: what the first worker said

  bool passed() const { return judged && std::holds_alternative<sandbox::Passed>(grade.outcome); }
};

// Nothing can be said about the candidate, and why.
Judgement unjudged(const Workplace& place, Deadline end, const std::string& why);

}  // namespace onelaunch::agent
