#pragma once
// Takes one candidate through compile, gates and timing, and puts what happened on record. Decides nothing.

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "agent/loop/keep_rule.h"
#include "agent/loop/workplace.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

struct Judgement {
  bool judged = false;     // false: our failure or the session's end; `why` says which
  bool cut_short = false;  // by the session's end or a wish to stop
  std::string why;
  sandbox::Compiled compiled;
  sandbox::Grade grade;                  // its outcome is the compile's when that did not pass
  std::optional<KeepDecision> screened;  // a quick check sufficed: it cannot be kept
  double grade_s = 0;

  bool passed() const { return judged && std::holds_alternative<sandbox::Passed>(grade.outcome); }
};

using Compiling = std::future<Result<sandbox::Compiled>>;

class Judge {
 public:
  explicit Judge(Workplace& place) : place_(place) {}

  // Compiles in a thread of its own, so that it may overlap the judging of another candidate. Nothing is recorded yet.
  Compiling start_compile(const Proposal& proposal, Deadline end);
  // With the times of an incumbent, a quick check comes first and lets clear losers go.
  Judgement judge(const std::string& id, const Proposal& proposal, Compiling compiling, Deadline end,
                  const std::vector<sandbox::Measurement>& incumbent = {});

 private:
  // Grades what has been compiled and records gates and times.
  Judgement grade(const std::string& id, sandbox::Compiled compiled, sandbox::Check check, Deadline end,
                  const std::vector<sandbox::Measurement>& incumbent);
  sandbox::CompileRequest request_for(const Proposal& proposal) const;
  Result<sandbox::Compiled> finish_compile(const std::string& id, const Proposal& proposal, Compiling& compiling,
                                           Deadline end);
  Workplace& place_;
};

// A grade with its time attributed to gate and measure; nothing is recorded but our own failures.
Result<sandbox::Grade> run_grade(Workplace& place, const std::string& id, const sandbox::Compiled& compiled,
                                 const sandbox::GradeRequest& request, Deadline end);

}  // namespace onelaunch::agent
