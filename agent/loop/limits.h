#pragma once
// Every limit of a session, with its unit.

#include <cstddef>

namespace onelaunch::agent {

struct SessionLimits {
  double compile_s = 60;            // one candidate
  double first_grade_s = 900;       // one candidate, before a good grade was seen
  double grade_s_min = 10;          // afterwards: at least this ...
  double grade_longest_times = 20;  // ... or this often the longest good grade
  double pair_s = 1;                // one GPU worker's chains of candidate and incumbent in turns
  double baseline_s = 300;          // one baseline on a GPU, and of the time for work at most ...
  double baseline_share_max = 0.2;  // ... this share
  int tries = 3;                    // of one step when our own machinery fails
  int unjudged_in_a_row = 3;        // candidates lost to our own failures before the session gives up
  int candidates = 100000;
  std::size_t source_bytes = 4u << 20;
};

}  // namespace onelaunch::agent
