#include "sandbox/host/grader.h"

#include <algorithm>
#include <optional>

#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/chain.h"
#include "sandbox/host/device_session.h"
#include "sandbox/host/gate_report.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/host/measure.h"
#include "sandbox/host/oracle_reference.h"
#include "sandbox/host/static_gate.h"
#include "tasks/floor.h"

namespace onelaunch::sandbox {
namespace {

// Nothing: go on. An outcome: the grade ends with it.
using Step = Result<std::optional<Outcome>>;

// Far beyond what a slow but honest kernel takes: one that gets there will not return. Unlike a limit in seconds it
// falls on every machine at the same instruction.
std::uint64_t instructions_max(const GradeBench& bench, std::int64_t context) {
  if (bench.limits.instructions != 0) return bench.limits.instructions;
  constexpr double kBase = 2e9, kPerByte = 40;
  return static_cast<std::uint64_t>(kBase + kPerByte * tasks::token_cost(bench.task, context).bytes());
}

// One grade in progress.
class Grading {
 public:
  Grading(const GradeBench& bench, const Compiled& candidate, DeviceSession session, Deadline deadline)
      : bench_(bench), candidate_(candidate), session_(std::move(session)), deadline_(deadline) {}

  Result<Grade> run(const GradePlan& plan, const WeightsOf& weights) {
    auto ended = run_all(plan, weights);
    if (!ended) return because(ended.error());
    Grade grade;
    grade.outcome = ended->value_or(Passed{});
    grade.gates = report_.gates();
    grade.gates.insert(grade.gates.begin(), others_.begin(), others_.end());
    grade.printed = std::move(printed_);
    if (std::holds_alternative<Passed>(grade.outcome)) {
      grade.times = std::move(nominal_);
      for (const Measurement& strict : strict_) apply_strict(grade.times, strict);
    }
    return grade;
  }

 private:
  Step run_all(const GradePlan& plan, const WeightsOf& weights) {
    for (const tasks::InputSet set : {tasks::InputSet::nominal, tasks::InputSet::strict}) {
      if (std::ranges::find(plan.chains, set, &PlannedChain::set) == plan.chains.end()) continue;
      auto of_set = weights(set);
      if (!of_set) return because(of_set.error());
      if (auto step = run_set(plan, set, **of_set); !step || *step) return step;
    }
    return std::nullopt;
  }

  // Everything on one set of weights, from loading to the last look at what prepare made.
  Step run_set(const GradePlan& plan, tasks::InputSet set, const Weights& weights) {
    if (auto step = set_up(plan, weights); !step || *step) return step;
    if (auto step = prepare(); !step || *step) return step;
    OracleReference reference(bench_.task, weights.bytes(), bench_.threads);
    for (const PlannedChain& planned : plan.chains)
      if (planned.set == set)
        if (auto step = run_chain(planned, plan.capacity, reference); !step || *step) return step;
    return check_prepared();
  }

  Step set_up(const GradePlan& plan, const Weights& weights) {
    SetupJob job;
    job.target = bench_.device.target;
    job.modules = {{kCandidateModule, candidate_.ptx, candidate_.cubin}};
    job.buffers = candidate_buffers(bench_.task, weights, plan.capacity, candidate_.launch);
    auto said = session_.set_up(job, weights.fd(), deadline_, bench_.limits.launch_s);
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
    return std::nullopt;
  }

  Step prepare() {
    prepared_digest_.clear();
    if (candidate_.launch.prepared_bytes == 0 && candidate_.prepares.empty()) return std::nullopt;
    RunJob job;
    if (candidate_.launch.prepared_bytes > 0) {
      job.fills.push_back({kPreparedBuffer, true, candidate_.launch.prepared_bytes});
      job.reads.push_back({kPreparedBuffer, 0, candidate_.launch.prepared_bytes, true});
    }
    for (const PrepareDeclaration& prepare : candidate_.prepares) {
      LaunchOrder order = prepare_order(bench_.task, candidate_.launch, prepare);
      order.grid = grid_blocks(prepare.grid, bench_.device);
      order.instructions_max = instructions_max(bench_, 0);
      job.launches.push_back(std::move(order));
    }
    auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, {});
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
    keep_printed(std::get<RunReply>(*said));
    if (candidate_.launch.prepared_bytes > 0) prepared_digest_ = std::get<RunReply>(*said).reads.at(0);
    return std::nullopt;
  }

  // What prepare made belongs to the weights: no token may change it.
  Step check_prepared() {
    if (prepared_digest_.empty()) return std::nullopt;
    RunJob job;
    job.reads.push_back({kPreparedBuffer, 0, candidate_.launch.prepared_bytes, true});
    auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, {});
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
    if (std::get<RunReply>(*said).reads.at(0) == prepared_digest_) return std::nullopt;
    GateResult gate;
    gate.stage = "prepare";
    gate.test = "prepared_unchanged";
    gate.detail = "megakernel changed the prepared data; only prepare kernels may write it";
    others_.push_back(gate);
    return WrongAnswer{gate.detail};
  }

  Step run_chain(const PlannedChain& planned, std::int64_t capacity, Reference& reference) {
    Chain chain(bench_.task, reference, {planned.set, planned.context, capacity, planned.steps, planned.seed});
    auto states = chain.begin();
    if (!states) return because(states.error());
    std::vector<std::vector<LaunchResult>> launches;
    epoch_ = 0;
    for (int i = 0; i < planned.steps; ++i) {
      auto step = run_step(planned, chain, capacity, i == 0 ? std::move(*states) : std::vector<BufferWrite>(), launches);
      if (!step || *step) return step;
    }
    if (!planned.timed) return std::nullopt;
    Measurement time = measurement_of(planned.context, launches);
    (planned.set == tasks::InputSet::nominal ? nominal_ : strict_).push_back(std::move(time));
    return std::nullopt;
  }

  Step run_step(const PlannedChain& planned, Chain& chain, std::int64_t capacity, std::vector<BufferWrite> states,
                std::vector<std::vector<LaunchResult>>& launches) {
    auto inputs = chain.next_inputs();
    if (!inputs) return because(inputs.error());
    RunJob job = disturbances(planned, chain.step());
    job.writes = std::move(states);
    job.writes.insert(job.writes.end(), inputs->begin(), inputs->end());
    LaunchOrder order = megakernel_order(bench_.task, candidate_.launch, {chain.position(), capacity, epoch_++});
    order.grid = grid_blocks(candidate_.launch.grid, bench_.device);
    order.registers = candidate_.resources.registers;
    order.instructions_max = instructions_max(bench_, planned.context);
    const bool measures = planned.timed && chain.step() + 1 == planned.steps;
    order.schedule_seed = measures ? 0 : planned.schedule_seed;
    job.launches.push_back(std::move(order));
    job.reads = chain.reads();
    // The oracle works in this process while the worker runs the kernel: nothing expected ever goes there.
    Result<void> expected;
    auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, [&] { expected = chain.expect(); });
    if (!said) return because(said.error());
    if (!expected) return because(expected.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
    RunReply& reply = std::get<RunReply>(*said);
    keep_printed(reply);
    const GatePlace place{planned.context, chain.step(), planned.seed, planned.set == tasks::InputSet::strict};
    if (!report_.add(chain.judge(reply.reads), place)) return WrongAnswer{report_.first_failure()};
    launches.push_back(std::move(reply.launches));
    return std::nullopt;
  }

  // Scratch is undefined at every launch; sync is kept from launch to launch and reset now and then, as drawn. The
  // second step always finds both as the first left them, so that an answer kept there is met.
  RunJob disturbances(const PlannedChain& planned, int step) {
    RunJob job;
    if (step == 1) return job;
    const std::uint64_t draw = derived_seed(planned.seed, 500 + static_cast<std::uint64_t>(step));
    if (candidate_.launch.scratch_bytes > 0 && (step == 0 || draw % 2 == 0)) job.fills.push_back({kScratchBuffer, true, draw});
    if (step > 0 && draw / 2 % 4 != 0) return job;
    epoch_ = 0;
    if (candidate_.launch.sync_bytes > 0) job.fills.push_back({kSyncBuffer, false, 0});
    return job;
  }

  void keep_printed(const RunReply& reply) {
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

  const GradeBench& bench_;
  const Compiled& candidate_;
  DeviceSession session_;
  Deadline deadline_;
  std::uint64_t epoch_ = 0;
  std::string prepared_digest_, printed_;
  GateReport report_;
  std::vector<GateResult> others_;
  std::vector<Measurement> nominal_, strict_;
};

}  // namespace

Result<Grade> grade_candidate(const GradeBench& bench, const Compiled& candidate, const GradeRequest& request,
                              const WeightsOf& weights, Deadline deadline, const Interrupts::Scope& interrupts) {
  const Seconds start = bench.clock.now();
  if (deadline.passed(bench.clock)) return unavailable("no time left to grade");
  auto session = DeviceSession::start(bench.worker, bench.clock, interrupts);
  if (!session) return because(session.error());
  const std::uint64_t seed = request.seed.value_or(fresh_seed());
  const GradePlan plan = plan_grade(bench.task, tasks::weight_arena(bench.task).bytes, request, seed);
  auto grade = Grading(bench, candidate, std::move(*session), deadline).run(plan, weights);
  if (grade) grade->gate_s = (bench.clock.now() - start).count();
  return grade;
}

}  // namespace onelaunch::sandbox
