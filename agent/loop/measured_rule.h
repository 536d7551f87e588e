#pragma once
// Keep or revert from measured times: what a worker's pairs say, how much an A/A test leaves open, and the rule. Pure
// functions of the samples.
//
// A gain is the natural logarithm of the incumbent's time over the candidate's. Every number rests on pairs of chains
// that ran next to each other in one worker; what is fixed for a worker's whole life (where its buffers lie, the state
// of its clock) shows only between workers, so that the spread between workers decides.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/keep_rule.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// The chance that a session of any length keeps even one candidate that is no faster than its incumbent.
constexpr double kSessionErrorRate = 0.05;
constexpr int kConfirmingWorkers = 5;
constexpr double kNoiseTimes = 3;            // a gain must be so many half-widths of the A/A test
constexpr double kOutlierTimes = 1.2;        // a sample so far above its neighbours is left out, with its partner
constexpr double kDiscardedShareMax = 0.2;   // more, and the worker was disturbed
// Between a candidate's times alone and next to the incumbent. Who is faster in company may live on what the other left
// behind. To be slower is no advantage: another kernel's code, addresses and cache lines were there just before.
constexpr double kFasterBesideMax = 0.01, kSlowerBesideMax = 0.03;

struct ContextGain {
  std::int64_t context = 0;
  double gain = 0, error = 0;  // error: standard error within the worker
  int n = 0, discarded = 0;    // pairs
};

// What one worker says.
struct WorkerGain {
  std::vector<ContextGain> contexts;
  double gain = 0, error = 0;  // mean over the contexts: of the geometric mean of the times
  int n = 0, discarded = 0;
  double faster_beside = 0, slower_beside = 0;  // next to the incumbent than alone; largest over the contexts
  std::string unusable;        // why; empty: usable
};
// Of each context the median gain on nominal and on strict inputs, each with the same weight.
WorkerGain gain_of(const sandbox::Grade& grade);

// The A/A test: a kernel against itself in several workers.
struct NoiseFloor {
  double half_width = 0;                 // of the 95 % interval of the mean gain; at least that mean itself
  double worker_sd = 0, context_sd = 0;  // between workers: of the gain, and of the noisiest context's
  int n = 0, workers = 0;
};
// At least two workers with the same contexts.
NoiseFloor noise_floor(const std::vector<WorkerGain>& workers);

struct MeasuredRule {
  double min_gain = 0.003;  // fraction
  NoiseFloor noise;
  double least_gain() const;  // what is asked for, as a fraction
};

// After the first worker: lets go what cannot gain enough.
struct Screened {
  bool promising = false;
  double ratio = 0, low = 0, high = 0;
  std::string reason;
};
Screened screen_measured(const WorkerGain& worker, const MeasuredRule& rule);

// The chance of a wrong keep that the `test`-th confirmation of a session (from 1) may take. They sum to
// kSessionErrorRate over all that may ever come: 200 / ((k + 199)(k + 200)) of it for the k-th.
double error_share(int test);

// Why the confirmation can be ended: what the workers so far say cannot be kept any more. Reverts only.
std::optional<std::string> beyond_hope(const std::vector<WorkerGain>& workers, const MeasuredRule& rule);

// The confirmation: kept when the mean gain of the workers is enough, each of them gains, the t interval that this
// test's error share allows lies above no gain, and no context loses more than kContextLossMax beyond noise. `low` and
// `high` are those of the 95 % interval. Fewer than kConfirmingWorkers are never enough.
KeepDecision decide_measured(const std::vector<WorkerGain>& workers, const MeasuredRule& rule, int test);

}  // namespace onelaunch::agent
