#include "sandbox/host/gpu_grader.h"

#include <algorithm>
#include <cstdio>

#include "sandbox/host/generation.h"
#include "sandbox/host/gpu_timer.h"
#include "tasks/floor.h"

namespace onelaunch::sandbox {
namespace {

using tasks::InputSet;

constexpr double kSetUpS = 60;
constexpr std::uint64_t kTimingStream = 8000;
constexpr double kRejectBelowFloor = 0.95, kDoubtBelowFloor = 1.1;
constexpr double kL2Rounds = 4;     // weights in rotation must be so many times the cache

// One grade in progress.
class GpuGrading {
 public:
  GpuGrading(const GpuBench& bench, const Compiled& candidate, const GradeRequest& request, const GpuGradePlan& plan,
             DeviceSession session, Deadline deadline)
      : bench_(bench), task_(bench.base.task), plan_(plan), session_(std::move(session)), deadline_(deadline) {
    arms_.emplace_back(task_, bench.layout, kCandidateModule, candidate);
    runs_.emplace_back(bench.base, candidate, session_, deadline);
    timing_.contexts = plan.contexts;
    timing_.seed = derived_seed(plan.seed, kTimingStream);
    timing_.pair_s = request.pair_s;
    timing_.chain_us = bench.chain_us;
    timing_.all_times = request.all_times;
    if (request.stop_above) {
      timing_.stop_above_us = request.stop_above->first_us;
      stop_above_us_ = request.stop_above->score_us;
    }
    if (request.against == nullptr) return;
    arms_.emplace_back(task_, bench.layout, kAgainstModule, *request.against);
    runs_.emplace_back(bench.base, *request.against, session_, deadline);
  }

  Result<Grade> grade() {
    const Seconds start = bench_.base.clock.now();
    Grade grade;
    auto ended = check();
    grade.gate_s = (bench_.base.clock.now() - start).count();
    if (ended && !*ended) ended = time(grade);
    if (!ended) return because(ended.error());
    grade.measure_s = (bench_.base.clock.now() - start).count() - grade.gate_s;
    grade.outcome = ended->value_or(Passed{});
    const std::vector<GateResult> gates = runs_.front().gates();
    grade.gates.insert(grade.gates.begin(), gates.begin(), gates.end());
    grade.printed = runs_.front().printed();
    if (!std::holds_alternative<Passed>(grade.outcome)) grade.times.clear(), grade.pairs.clear();
    return grade;
  }

 private:
  Step check() {
    if (auto step = set_up(); !step || *step) return step;
    RunJob weights = generation(task_, bench_.layout, bench_.generator_device, bench_.weight_seed);
    auto said = session_.run(std::move(weights), deadline_, kSetUpS, {});
    if (!said) return because(said.error(), "making the weights");
    if (const Outcome* outcome = std::get_if<Outcome>(&*said))
      return fail(Error::Kind::worker_lost, "making the weights: " + explain(*outcome));
    if (auto step = arms_.front().prepare(runs_.front()); !step || *step) return step;
    for (const PlannedChain& planned : plan_.chains)
      if (auto step = run_chain(planned); !step || *step) return step;
    return std::nullopt;
  }

  Step set_up() {
    SetupJob job;
    job.target = bench_.base.device.target;
    job.modules = {arms_.front().spec(), bench_.generator, bench_.harness};
    job.buffers = bench_.layout.weight_buffers();
    job.buffers.push_back(generator_table());
    for (const tasks::Tensor& tensor : task_.tensors)
      if (tensor.role != tasks::Role::weight) job.buffers.push_back({buffer_name(tensor), tensor.bytes(plan_.capacity), false, 0});
    for (BufferSpec& buffer : workspace_buffers(arms_.front().compiled().launch)) job.buffers.push_back(std::move(buffer));
    for (const GpuArm& arm : arms_) {
      if (&arm != &arms_.front()) job.modules.push_back(arm.spec());
      for (BufferSpec& buffer : arm.prepared_buffers()) job.buffers.push_back(std::move(buffer));
    }
    for (BufferSpec& buffer : GpuTimer::buffers(task_, arms_, timing_)) job.buffers.push_back(std::move(buffer));
    auto said = session_.set_up(job, -1, deadline_, kSetUpS);
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
    return std::nullopt;
  }

  Step run_chain(const PlannedChain& planned) {
    CandidateRun::ChainPlace place{.capacity = planned.capacity, .on_gpu = true, .redirections = {}};
    place.redirections = bench_.layout.weights({planned.set, 0});
    place.redirections.merge(arms_.front().places({planned.set, 0}, false));
    std::vector<std::vector<LaunchResult>> launches;
    return runs_.front().run_chain(planned, place, bench_.reference, launches);
  }

  Step time(Grade& grade) {
    if (timing_.contexts.empty()) return std::nullopt;
    GpuTimer timer(task_, bench_.layout, arms_, runs_, session_, bench_.reference, timing_, deadline_);
    auto step = timer.measure();
    const bool go_on = !timer.gave_up();
    if (step && !*step && go_on && timing_.all_times) step = timer.count();
    if (step && !*step) step = floor(timer.times(), grade);
    // Only now may another kernel run here: this one has shown that it needs none of its results.
    const bool paired = go_on && arms_.size() > 1 && (!stop_above_us_ || score_us(timer.times()) <= *stop_above_us_);
    if (step && !*step && paired) step = arms_[1].prepare(runs_[1]);
    if (step && !*step && paired) step = timer.pair();
    const std::vector<GateResult> timed = timer.report().gates();
    if (step && *step && std::holds_alternative<WrongAnswer>(**step)) grade.gates = timed;
    grade.times = timer.times();
    grade.pairs = timer.pairs();
    return step;
  }

  // Faster than the memory can deliver what must be read: then not all of it was read.
  Step floor(const std::vector<Measurement>& times, Grade& grade) const {
    for (const Measurement& time : times) {
      const double floor = floor_us(bench_, time.context);
      if (!(floor > 0) || time.us_median >= kDoubtBelowFloor * floor) continue;
      char text[200];
      std::snprintf(text, sizeof text, "%.2f us at context %lld, where reading what a token needs takes %.2f us", time.us_median,
                    static_cast<long long>(time.context), floor);
      if (time.us_median < kRejectBelowFloor * floor) return Outcome(Refused{"floor", text});
      grade.quarantine = text;
    }
    return std::nullopt;
  }

  const GpuBench& bench_;
  const tasks::Task& task_;
  const GpuGradePlan& plan_;
  DeviceSession session_;
  Deadline deadline_;
  TimerPlan timing_;
  std::optional<double> stop_above_us_;
  std::vector<GpuArm> arms_;         // the candidate, and what it is compared with
  std::vector<CandidateRun> runs_;
};

}  // namespace

double floor_us(const GpuBench& bench, std::int64_t context) {
  const double bytes = tasks::token_cost(bench.base.task, context).bytes();
  const bool rotates_out = bytes * bench.layout.sets() >= kL2Rounds * static_cast<double>(bench.base.device.l2_bytes);
  return bench.stream_tb_s > 0 && rotates_out ? bytes / (bench.stream_tb_s * 1e6) : 0;
}

Result<Grade> grade_on_gpu(const GpuBench& bench, const Compiled& candidate, const GradeRequest& request, Deadline deadline,
                           const Interrupts::Scope& interrupts) {
  if (deadline.passed(bench.base.clock)) return unavailable("no time left to grade");
  auto session = DeviceSession::start(bench.base.worker, bench.role, bench.base.clock, interrupts);
  if (!session) return because(session.error());
  const GpuGradePlan plan = plan_gpu_grade(bench.base.task, request, request.seed.value_or(fresh_seed()));
  return GpuGrading(bench, candidate, request, plan, std::move(*session), deadline).grade();
}

}  // namespace onelaunch::sandbox
