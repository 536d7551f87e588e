#include "sandbox/host/candidate_run.h"

#include <algorithm>

#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/static_gate.h"
#include "tasks/floor.h"

namespace onelaunch::sandbox {

std::uint64_t CandidateRun::instructions_max(std::int64_t context) const {
  if (bench_.limits.instructions != 0) return bench_.limits.instructions;
  constexpr double kBase = 2e9, kPerByte = 40;
  return static_cast<std::uint64_t>(kBase + kPerByte * tasks::token_cost(bench_.task, context).bytes());
}

LaunchOrder CandidateRun::order(const CallState& state) const {
  LaunchOrder order = megakernel_order(bench_.task, candidate_.launch, state);
  order.grid = grid_blocks(candidate_.launch.grid, bench_.device);
  order.registers = candidate_.resources.registers;
  order.instructions_max = instructions_max(state.position);
  return order;
}

Step CandidateRun::prepare(RunJob job, const Redirections& places, const std::string& module,
                           std::vector<std::string>* reads) {
  for (const PrepareDeclaration& prepare : candidate_.prepares) {
    LaunchOrder order = prepare_order(bench_.task, candidate_.launch, prepare);
    order.grid = grid_blocks(prepare.grid, bench_.device);
    order.module = module;
    order.instructions_max = instructions_max(0);
    redirect(order, places);
    job.launches.push_back(std::move(order));
  }
  auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, {});
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  RunReply& reply = std::get<RunReply>(*said);
  keep_printed(reply);
  if (reads != nullptr) *reads = std::move(reply.reads);
  return std::nullopt;
}

Step CandidateRun::run_chain(const PlannedChain& planned, const ChainPlace& place, Reference& reference,
                             std::vector<std::vector<LaunchResult>>& launches) {
  Chain chain(bench_.task, reference,
              {{planned.set, planned.context, place.capacity, planned.seed}, planned.steps, place.on_gpu});
  auto begun = chain.begin();
  if (!begun) return because(begun.error());
  for (RunJob& job : *begun) {
    auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, {});
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  }
  for (int i = 0; i < planned.steps; ++i) {
    auto step = run_step(planned, place, chain, launches);
    if (!step || *step) return step;
  }
  return std::nullopt;
}

Step CandidateRun::run_step(const PlannedChain& planned, const ChainPlace& place, Chain& chain,
                            std::vector<std::vector<LaunchResult>>& launches) {
  auto inputs = chain.next_inputs();
  if (!inputs) return because(inputs.error());
  RunJob job = disturbances(planned, chain.step());
  job.writes = std::move(*inputs);
  LaunchOrder launch = order({chain.position(), place.capacity, epoch_++});
  redirect(launch, place.redirections);
  const bool measures = planned.timed && chain.step() + 1 == planned.steps;
  launch.detect = planned.detect;
  launch.schedule_seed = measures ? 0 : planned.schedule_seed;
  job.launches.push_back(std::move(launch));
  job.reads = chain.reads();
  // The reference works while the worker runs the kernel: nothing expected ever goes there.
  Result<void> expected;
  auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, [&] { expected = chain.expect(); });
  if (!said) return because(said.error());
  if (!expected) return because(expected.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  RunReply& reply = std::get<RunReply>(*said);
  keep_printed(reply);
  const GatePlace where{planned.context, chain.step(), planned.seed, planned.set == tasks::InputSet::strict};
  if (!report_.add(chain.judge(reply.reads), where)) return WrongAnswer{report_.first_failure()};
  launches.push_back(std::move(reply.launches));
  return std::nullopt;
}

std::vector<GateResult> CandidateRun::gates() const {
  std::vector<GateResult> gates = others_;
  const std::vector<GateResult> compared = report_.gates();
  gates.insert(gates.end(), compared.begin(), compared.end());
  return gates;
}

// Scratch is undefined at every launch; sync is kept from launch to launch and reset now and then, as drawn. The
// second step always finds both as the first left them, so that an answer kept there is met; so does the first of a
// linked chain, whose states are new: a kernel that keeps a copy of its own is met.
RunJob CandidateRun::disturbances(const PlannedChain& planned, int step) {
  RunJob job;
  if (step == 1 || (step == 0 && planned.linked)) return job;
  const std::uint64_t draw = derived_seed(planned.seed, 500 + static_cast<std::uint64_t>(step));
  if (candidate_.launch.scratch_bytes > 0 && (step == 0 || draw % 2 == 0)) job.fills.push_back({kScratchBuffer, true, draw});
  if (step > 0 && draw / 2 % 4 != 0) return job;
  epoch_ = 0;
  if (candidate_.launch.sync_bytes > 0) job.fills.push_back({kSyncBuffer, false, 0});
  return job;
}

void CandidateRun::keep_printed(const RunReply& reply) {
  for (const LaunchResult& launch : reply.launches) {
    const std::size_t room = bench_.limits.printed_bytes - std::min(printed_.size(), bench_.limits.printed_bytes);
    const bool cut = launch.printed_truncated || launch.printed.size() > room;
    if (room == 0) return;
    printed_ += launch.printed.substr(0, room);
    if (!cut) continue;
    printed_.resize(std::min(printed_.size(), bench_.limits.printed_bytes));
    printed_ += "\n... more output left out ...\n";
  }
}

}  // namespace onelaunch::sandbox
