#pragma once
// Takes one candidate through compile, gates and timing, and puts what happened on record.

#include <future>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "agent/loop/comparison.h"
#include "agent/loop/judgement.h"
#include "agent/loop/workplace.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

using Compiling = std::future<Result<sandbox::Compiled>>;

class Judge {
 public:
  explicit Judge(Workplace& place) : place_(place) {}

  // Compiles in a thread of its own, so that it may overlap the judging of another candidate. Nothing is recorded yet.
  Compiling start_compile(const Proposal& proposal, Deadline end);
  // With a rival, clear losers are let go early: on modelled times after a quick check, on measured ones after the
  // first worker; then what is measured is decided here (Judgement::decided).
  Judgement judge(const std::string& id, const Proposal& proposal, Compiling compiling, Deadline end,
                  const Rivalry* rivalry = nullptr);

 private:
  // Grades what has been compiled and records gates and times.
  Judgement grade(const std::string& id, sandbox::Compiled compiled, sandbox::Check check, Deadline end,
                  const Rivalry* rivalry);
  sandbox::CompileRequest request_for(const Proposal& proposal) const;
  Result<sandbox::Compiled> finish_compile(const std::string& id, const Proposal& proposal, Compiling& compiling,
                                           Deadline end);
  Workplace& place_;
};

}  // namespace onelaunch::agent
