#pragma once
// The wall-clock cap as a contract: counts active time over all legs of a session and keeps a reserve for its closing.

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace onelaunch::agent {

class Budget {
 public:
  // `spent`: active time of earlier legs. Borrows the clock.
  Budget(const Clock& clock, Seconds wall, Seconds spent);

  Seconds wall() const { return wall_; }
  Seconds spent() const;
  // For new work: up to the reserve. Never negative.
  Seconds left_for_work() const;
  // For the closing: max(10 s, 3 x the longest full grade, the set-up and 2 such grades, 5 % of the cap), where 10 s are
  // at most a quarter of a small cap and the whole is at most half of it.
  Seconds reserve() const;
  Deadline work_end() const;
  Deadline end() const;
  void saw_full_grade(Seconds took);
  // What new weights cost on a device, which the closing needs.
  void saw_set_up(Seconds took);
  Seconds longest_grade() const { return longest_grade_; }

 private:
  const Clock& clock_;
  Seconds start_, wall_, longest_grade_{0}, set_up_{0};
};

// "3h", "2m", "1h30m", "90s", "90" (seconds). Fails (invalid_input) on zero, negative values and anything else.
Result<Seconds> parse_wall(const std::string& text);
// "0.3%" or "0.003" as a fraction from 0 to below 1.
Result<double> parse_gain(const std::string& text);
// "1h02m", "2m05s", "9.8s"
std::string print_duration(Seconds time);

}  // namespace onelaunch::agent
