#pragma once
// A candidate at work in its worker: prepare kernels, and chains of steps that are compared with the reference.

#include <optional>
#include <string>
#include <vector>

#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/chain.h"
#include "sandbox/host/device_session.h"
#include "sandbox/host/gate_report.h"
#include "sandbox/host/gpu_layout.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/host/grader.h"

namespace onelaunch::sandbox {

// Nothing: go on. An outcome: the grade ends with it.
using Step = Result<std::optional<Outcome>>;

class CandidateRun {
 public:
  // Borrows bench, candidate and session, which is set up.
  CandidateRun(const GradeBench& bench, const Compiled& candidate, DeviceSession& session, Deadline deadline)
      : bench_(bench), candidate_(candidate), session_(session), deadline_(deadline) {}

  // The prepare kernels in the order that the source gives, for the weights at `places`. `job`: what else is done
  // before and after them. `module`: the name that they are loaded under.
  Step prepare(RunJob job, const Redirections& places, const std::string& module = kCandidateModule,
               std::vector<std::string>* reads = nullptr);
  struct ChainPlace {
    std::int64_t capacity = 0;       // rows of the caches
    bool on_gpu = false;
    Redirections redirections;       // of what the megakernel's parameters point to
  };
  // The launches of each step go to `launches`.
  Step run_chain(const PlannedChain& planned, const ChainPlace& place, Reference& reference,
                 std::vector<std::vector<LaunchResult>>& launches);

  // Far beyond what a slow but honest kernel takes, in warp instructions: one that gets there will not return. Unlike
  // a limit in seconds it falls on every machine at the same instruction.
  std::uint64_t instructions_max(std::int64_t context) const;
  LaunchOrder order(const CallState& state) const;

  void add_gate(GateResult gate) { others_.push_back(std::move(gate)); }
  std::vector<GateResult> gates() const;
  const std::string& printed() const { return printed_; }

 private:
  Step run_step(const PlannedChain& planned, const ChainPlace& place, Chain& chain,
                std::vector<std::vector<LaunchResult>>& launches);
  RunJob disturbances(const PlannedChain& planned, int step);
  void keep_printed(const RunReply& reply);

  const GradeBench& bench_;
  const Compiled& candidate_;
  DeviceSession& session_;
  Deadline deadline_;
  std::uint64_t epoch_ = 0;
  GateReport report_;
  std::vector<GateResult> others_;
  std::string printed_;
};

}  // namespace onelaunch::sandbox
