#pragma once
// A candidate and a kernel that stands, timed next to each other on a GPU: one fresh worker with fresh seeds after the
// other.

#include <string>
#include <vector>

#include "agent/loop/judgement.h"
#include "agent/loop/measured_rule.h"
#include "agent/loop/standing.h"
#include "agent/loop/workplace.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// What a candidate must beat, and by which rule.
struct Rivalry {
  const Standing& incumbent;
  const MeasuredRule* rule = nullptr;  // null: modelled times
  int test = 1;                        // which confirmation of the session the next one would be
};

// What one worker said.
struct Beside {
  sandbox::Grade grade;
  WorkerGain gain;  // of a grade that passed
};

// Full grades with `against` beside it. A worker whose pairs were disturbed is replaced, up to limits.tries in all; the
// last one is returned as it is, and so is worker 0's grade without pairs of a kernel that is clearly slower by itself.
// Records the pairs, as those of worker `number`.
Result<Beside> grade_beside(Workplace& place, const std::string& id, const sandbox::Compiled& compiled,
                            const Standing& against, int number, Deadline end);

// kConfirmingWorkers of them. Fails (internal) when one does not pass, is too fast to be true or cannot be used.
Result<std::vector<Beside>> grade_in_fresh_workers(Workplace& place, const Standing& kernel, const Standing& against,
                                                   Deadline end);

// By context the median worker's time, with the extremes of all workers and all their samples. What those workers did
// not time is that of `complete`.
std::vector<sandbox::Measurement> combined_times(const std::vector<Beside>& workers,
                                                 const std::vector<sandbox::Measurement>& complete);
std::vector<WorkerGain> gains_of(const std::vector<Beside>& workers);

// Screen, then confirmation for what is promising. Records gates, times and pairs.
Judgement compare_measured(Workplace& place, const std::string& id, sandbox::Compiled compiled, const Rivalry& rivalry,
                           Deadline end);

}  // namespace onelaunch::agent
