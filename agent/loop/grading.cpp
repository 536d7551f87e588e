#include "agent/loop/grading.h"

#include <algorithm>

namespace onelaunch::agent {
namespace {

double grade_limit_s(const Workplace& place) {
  const double longest = place.budget.longest_grade().count();
  if (!(longest > 0)) return place.limits.first_grade_s;
  return std::max(place.limits.grade_s_min, place.limits.grade_longest_times * longest);
}

}  // namespace

bool cut_by_us(const Workplace& place, const sandbox::Outcome& outcome, Deadline end) {
  const bool killed =
      std::holds_alternative<sandbox::TimedOut>(outcome) || std::holds_alternative<sandbox::Crashed>(outcome);
  return killed && (place.stopping() || end.passed(place.clock));
}

Result<sandbox::Grade> run_grade(Workplace& place, const std::string& id, const sandbox::Compiled& compiled,
                                 const sandbox::GradeRequest& request, Deadline end) {
  Seconds start{0};  // of the last try
  Result<sandbox::Grade> grade = [&] {
    const Spending spending(place.meter, Spent::gate);
    return try_step(place, "grading", id, end, [&] {
      start = place.clock.now();
      return place.sandbox.grade(compiled, request, place.within(grade_limit_s(place), end));
    });
  }();
  if (!grade) return grade;
  place.meter.move(Spent::gate, Spent::measure, grade->measure_s);
  if (cut_by_us(place, grade->outcome, end)) return unavailable("the grade was cut short");
  const bool full = request.check == sandbox::Check::full;
  if (full && std::holds_alternative<sandbox::Passed>(grade->outcome))
    place.budget.saw_full_grade(place.clock.now() - start);
  return grade;
}

}  // namespace onelaunch::agent
