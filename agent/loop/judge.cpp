#include "agent/loop/judge.h"

#include <utility>

#include "agent/loop/grading.h"

namespace onelaunch::agent {

sandbox::CompileRequest Judge::request_for(const Proposal& proposal) const {
  return {.source = proposal.source, .tunables = proposal.tunables};
}

Compiling Judge::start_compile(const Proposal& proposal, Deadline end) {
  const Deadline deadline = place_.within(place_.limits.compile_s, end);
  return std::async(std::launch::async, [&sandbox = place_.sandbox, request = request_for(proposal), deadline] {
    return sandbox.compile(request, deadline);
  });
}

Result<sandbox::Compiled> Judge::finish_compile(const std::string& id, const Proposal& proposal, Compiling& compiling,
                                                Deadline end) {
  const Spending spending(place_.meter, Spent::compile);
  return try_step(place_, "compiling", id, end, [&]() -> Result<sandbox::Compiled> {
    if (compiling.valid()) return compiling.get();
    return place_.sandbox.compile(request_for(proposal), place_.within(place_.limits.compile_s, end));
  });
}

Judgement Judge::judge(const std::string& id, const Proposal& proposal, Compiling compiling, Deadline end,
                       const Rivalry* rivalry) {
  place_.observer.busy("compiling " + id);
  Result<sandbox::Compiled> compiled = finish_compile(id, proposal, compiling, end);
  if (!compiled) return unjudged(place_, end, compiled.error().message);
  if (cut_by_us(place_, compiled->outcome, end)) return unjudged(place_, end, "");
  place_.recorder.compiled(id, *compiled);
  if (!std::holds_alternative<sandbox::Passed>(compiled->outcome)) {
    Judgement judgement{.judged = true, .compiled = std::move(*compiled)};
    judgement.grade.outcome = judgement.compiled.outcome;
    return judgement;
  }
  if (!rivalry) return grade(id, std::move(*compiled), sandbox::Check::full, end, nullptr);
  if (rivalry->rule) return compare_measured(place_, id, std::move(*compiled), *rivalry, end);
  Judgement quick = grade(id, *compiled, sandbox::Check::quick, end, rivalry);
  if (!quick.passed() || quick.decided) return quick;
  return grade(id, std::move(*compiled), sandbox::Check::full, end, rivalry);
}

Judgement Judge::grade(const std::string& id, sandbox::Compiled compiled, sandbox::Check check, Deadline end,
                       const Rivalry* rivalry) {
  const bool quick = check == sandbox::Check::quick;
  place_.observer.busy((quick ? "checking " : "grading ") + id);
  Result<sandbox::Grade> grade = run_grade(place_, id, compiled, {.check = check}, end);
  if (!grade) return unjudged(place_, end, grade.error().message);
  Judgement judgement{.judged = true, .compiled = std::move(compiled), .grade = std::move(*grade)};
  if (quick && judgement.passed()) judgement.decided = screen_modelled(rivalry->incumbent.times, judgement.grade.times);
  // A quick check that decides nothing leaves no trace: the full grade says it all again.
  if (!quick || !judgement.passed() || judgement.decided) place_.recorder.graded(id, judgement.grade);
  return judgement;
}

}  // namespace onelaunch::agent
