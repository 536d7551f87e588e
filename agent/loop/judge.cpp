#include "agent/loop/judge.h"

#include <algorithm>
#include <utility>

namespace onelaunch::agent {
namespace {

double grade_limit_s(const Workplace& place) {
  const double longest = place.budget.longest_grade().count();
  if (!(longest > 0)) return place.limits.first_grade_s;
  return std::max(place.limits.grade_s_min, place.limits.grade_longest_times * longest);
}

// A time limit that the session's end or a wish to stop imposed says nothing about the candidate.
bool cut_by_us(const Workplace& place, const sandbox::Outcome& outcome, Deadline end) {
  const bool killed =
      std::holds_alternative<sandbox::TimedOut>(outcome) || std::holds_alternative<sandbox::Crashed>(outcome);
  return killed && (place.stopping() || end.passed(place.clock));
}

Judgement unjudged(const Workplace& place, Deadline end, const std::string& why) {
  Judgement judgement;
  judgement.cut_short = place.stopping() || end.passed(place.clock);
  judgement.why = place.stopping()          ? "the session was asked to stop"
                  : end.passed(place.clock) ? "the session's time for new work ran out"
                                            : "our own failure: " + why;
  return judgement;
}

}  // namespace

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
                       const std::vector<sandbox::Measurement>& incumbent) {
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
  if (incumbent.empty()) return grade(id, std::move(*compiled), sandbox::Check::full, end, incumbent);
  Judgement quick = grade(id, *compiled, sandbox::Check::quick, end, incumbent);
  if (!quick.passed() || quick.screened) return quick;
  return grade(id, std::move(*compiled), sandbox::Check::full, end, incumbent);
}

Judgement Judge::grade(const std::string& id, sandbox::Compiled compiled, sandbox::Check check, Deadline end,
                       const std::vector<sandbox::Measurement>& incumbent) {
  const bool quick = check == sandbox::Check::quick;
  place_.observer.busy((quick ? "checking " : "grading ") + id);
  const Seconds start = place_.clock.now();
  Result<sandbox::Grade> grade = run_grade(place_, id, compiled, {.check = check}, end);
  if (!grade) return unjudged(place_, end, grade.error().message);
  if (cut_by_us(place_, grade->outcome, end)) return unjudged(place_, end, "");
  Judgement judgement{.judged = true, .compiled = std::move(compiled), .grade = std::move(*grade)};
  judgement.grade_s = (place_.clock.now() - start).count();
  if (quick && judgement.passed()) judgement.screened = screen_modelled(incumbent, judgement.grade.times);
  // A quick check that decides nothing leaves no trace: the full grade says it all again.
  if (!quick || !judgement.passed() || judgement.screened) place_.recorder.graded(id, judgement.grade);
  if (!quick && judgement.passed()) place_.budget.saw_full_grade(Seconds(judgement.grade_s));
  return judgement;
}

Result<sandbox::Grade> run_grade(Workplace& place, const std::string& id, const sandbox::Compiled& compiled,
                                 const sandbox::GradeRequest& request, Deadline end) {
  Result<sandbox::Grade> grade = [&] {
    const Spending spending(place.meter, Spent::gate);
    return try_step(place, "grading", id, end,
                    [&] { return place.sandbox.grade(compiled, request, place.within(grade_limit_s(place), end)); });
  }();
  if (grade) place.meter.move(Spent::gate, Spent::measure, grade->measure_s);
  return grade;
}

}  // namespace onelaunch::agent
