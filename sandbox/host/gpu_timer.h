#pragma once
// Times kernels that are known to be right in the worker that checked them. Every timed launch's output is compared.

#include <optional>
#include <vector>

#include "sandbox/host/gate_report.h"
#include "sandbox/host/gpu_arms.h"
#include "sandbox/host/reference.h"
#include "sandbox/host/timed_case.h"

namespace onelaunch::sandbox {

struct TimerPlan {
  std::vector<std::int64_t> contexts;
  std::uint64_t seed = 0;
  double pair_s = 1;
  double chain_us = 2000;  // long against the resolution of events, short against the drift of clocks
  int solo_chains = 11;   // samples of the primary time on nominal inputs; fewer of the others
  bool all_times = true;  // single-set and cold tokens too
  std::optional<double> stop_above_us;  // what a quick look at the first context must not exceed
};

class GpuTimer {
 public:
  // Borrows all. `arms` and `runs` go together, the candidate first; all are set up and prepared.
  GpuTimer(const tasks::Task& task, const GpuLayout& layout, const std::vector<GpuArm>& arms,
           std::vector<CandidateRun>& runs, DeviceSession& session, Reference& reference, TimerPlan plan, Deadline deadline);

  // Buffers to be made beside those of the gate.
  static std::vector<BufferSpec> buffers(const tasks::Task& task, const std::vector<GpuArm>& arms, const TimerPlan& plan);

  // Draws inputs, finds the chain length, times the candidate alone. Nothing on success; else the candidate's outcome.
  Step measure();
  // The first context was too slow for the rest to be timed; its quick look is all there is.
  bool gave_up() const { return gave_up_; }
  // Kernels per token; other device work is the candidate's refusal.
  Step count();
  // Candidate and the other arm in turns.
  Step pair();

  const std::vector<Measurement>& times() const { return times_; }
  const std::vector<PairedTimes>& pairs() const { return pairs_; }
  const GateReport& report() const { return report_; }

 private:
  struct Timed {               // one kind of chain of one case
    std::size_t of = 0;        // case
    TimedCase::Loop loop = TimedCase::Loop::rotated;
    int length = 1;
    std::vector<ChainSample> samples;
  };
  Step choose_length();
  Measurement primary(const Timed& timed) const;
  Step expect_and_upload(TimedCase& of, int length);
  // Runs each of `chains` as `order` says; the samples go to `chains`.
  Step run(std::vector<Timed>& chains, const std::vector<std::size_t>& arm_of, std::vector<std::uint32_t> order, bool cold,
           double seconds_max);
  Step check(const Timed& chain, const ChainSample& sample);
  Step check_states(std::size_t of);
  Step solo(std::vector<Timed>& rotated, std::vector<Timed>& loops, std::vector<Timed>& cold);
  Measurement measurement(std::size_t of, const std::vector<Timed>& rotated, const std::vector<Timed>& loops,
                          const std::vector<Timed>& cold) const;
  std::vector<std::uint32_t> pair_order() const;

  const tasks::Task& task_;
  const GpuLayout& layout_;
  const std::vector<GpuArm>& arms_;
  std::vector<CandidateRun>& runs_;
  DeviceSession& session_;
  Reference& reference_;
  TimerPlan plan_;
  Deadline deadline_;
  std::vector<TimedCase> cases_;  // of each context the nominal, then the strict one
  int length_ = 0;
  double estimate_us_ = 0;        // a token
  bool gave_up_ = false;
  GateReport report_;
  std::vector<Measurement> times_;
  std::vector<PairedTimes> pairs_;
};

}  // namespace onelaunch::sandbox
