#include "sandbox/host/grader.h"

#include <algorithm>
#include <optional>

#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/candidate_run.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/host/measure.h"
#include "sandbox/host/oracle_reference.h"

namespace onelaunch::sandbox {
namespace {

// One grade in progress.
class Grading {
 public:
  Grading(const GradeBench& bench, const Compiled& candidate, DeviceSession session, Deadline deadline)
      : bench_(bench),
        candidate_(candidate),
        session_(std::move(session)),
        deadline_(deadline),
        run_(bench, candidate, session_, deadline) {}

  Result<Grade> grade(const GradePlan& plan, const WeightsOf& weights) {
    auto ended = run_all(plan, weights);
    if (!ended) return because(ended.error());
    Grade grade;
    grade.outcome = ended->value_or(Passed{});
    grade.gates = run_.gates();
    grade.printed = run_.printed();
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
    std::vector<std::string> digests;
    auto step = run_.prepare(std::move(job), {}, kCandidateModule, &digests);
    if (!digests.empty()) prepared_digest_ = digests.front();
    return step;
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
    run_.add_gate(gate);
    return WrongAnswer{gate.detail};
  }

  Step run_chain(const PlannedChain& planned, std::int64_t capacity, Reference& reference) {
    std::vector<std::vector<LaunchResult>> launches;
    auto step = run_.run_chain(planned, {.capacity = capacity, .redirections = {}}, reference, launches);
    if (!step || *step || !planned.timed) return step;
    Measurement time = measurement_of(planned.context, launches);
    (planned.set == tasks::InputSet::nominal ? nominal_ : strict_).push_back(std::move(time));
    return std::nullopt;
  }

  const GradeBench& bench_;
  const Compiled& candidate_;
  DeviceSession session_;
  Deadline deadline_;
  CandidateRun run_;
  std::string prepared_digest_;
  std::vector<Measurement> nominal_, strict_;
};

}  // namespace

Result<Grade> grade_candidate(const GradeBench& bench, const Compiled& candidate, const GradeRequest& request,
                              const WeightsOf& weights, Deadline deadline, const Interrupts::Scope& interrupts) {
  const Seconds start = bench.clock.now();
  if (deadline.passed(bench.clock)) return unavailable("no time left to grade");
  auto session = DeviceSession::start(bench.worker, "emu", bench.clock, interrupts);
  if (!session) return because(session.error());
  const std::uint64_t seed = request.seed.value_or(fresh_seed());
  const GradePlan plan = plan_grade(bench.task, tasks::weight_arena(bench.task).bytes, request, seed);
  auto grade = Grading(bench, candidate, std::move(*session), deadline).grade(plan, weights);
  if (grade) grade->gate_s = (bench.clock.now() - start).count();
  return grade;
}

}  // namespace onelaunch::sandbox
