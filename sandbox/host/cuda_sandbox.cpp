#include "sandbox/host/cuda_sandbox.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "sandbox/host/candidate_compiler.h"
#include "sandbox/host/device_lock.h"
#include "sandbox/host/generation.h"
#include "sandbox/host/gpu_grader.h"
#include "sandbox/host/gpu_profile.h"
#include "sandbox/host/gpu_timer.h"
#include "sandbox/host/harness_kernels.h"
#include "sandbox/host/measure.h"
#include "sandbox/host/microbench_kernels.h"
#include "sandbox/host/reference_check.h"
#include "sandbox/host/torch_baseline.h"
#include "tasks/floor.h"

namespace onelaunch::sandbox {
namespace {

constexpr double kOwnCompileS = 120, kTorchS = 300, kCeilingsS = 120;
constexpr int kBaselineSamples = 24, kBaselineWarmUp = 8;
constexpr double kMemoryShare = 0.35;  // of what is free, for the weights of one of the two workers
constexpr std::uint64_t kCheckStream = 9500;

// The kernels that the harness itself runs on the GPU.
struct OwnModules {
  ModuleSpec generator, eager, harness;
};

Result<ModuleSpec> compile_own(Compiler& compiler, const std::string& name, std::string source, const std::string& target,
                               const Clock& clock, const Interrupts::Scope& interrupts) {
  CompileJob job;
  job.source = std::move(source);
  job.options = {"--gpu-architecture=" + target, "--std=c++20"};
  job.limits.wall_s = kOwnCompileS;
  auto done = compiler.compile(std::move(job), Deadline::after(clock, Seconds(kOwnCompileS)), interrupts);
  if (!done) return because(done.error());
  if (done->reply.status != CompileReply::Status::compiled)
    return fail(Error::Kind::internal, "the " + name + " kernels do not compile for " + target + ":\n" + done->reply.log);
  return ModuleSpec{name, std::move(done->reply.ptx), std::move(done->reply.cubin)};
}

std::string role_of(const CudaOptions& options) {
  return options.role.empty() ? "cuda:" + std::to_string(options.ordinal) : options.role;
}

std::int64_t longest_context(const tasks::Task& task) {
  std::int64_t longest = 0;
  for (const tasks::SweepPoint& point : task.sweep) longest = std::max(longest, point.context + point.steps);
  return longest;
}

// So many that what one token leaves in L2 is no help to the next ones, as far as memory goes.
int sets_for(const tasks::Task& task, const DeviceFacts& facts, int least) {
  const double active = tasks::token_cost(task, 0).bytes();
  const int wanted = static_cast<int>(std::ceil(4.0 * static_cast<double>(facts.l2_bytes) / std::max(active, 1.0)));
  const double each = 2.0 * static_cast<double>(tasks::weight_arena(task).bytes);  // nominal and strict
  const int fit = facts.memory_free_bytes == 0
                      ? kChainLengthMax
                      : static_cast<int>(kMemoryShare * static_cast<double>(facts.memory_free_bytes) / std::max(each, 1.0));
  return std::max(1, std::min({std::max(wanted, least), kChainLengthMax, fit}));
}

class CudaSandbox final : public Sandbox {
 public:
  CudaSandbox(const tasks::Task& task, CudaOptions options, const Clock& clock, std::unique_ptr<Compiler> compiler,
              DeviceFacts facts, DeviceLock lock, OwnModules own)
      : task_(task),
        options_(std::move(options)),
        clock_(clock),
        compiler_(std::move(compiler)),
        facts_(std::move(facts)),
        lock_(std::move(lock)),
        own_(std::move(own)),
        role_(role_of(options_)),
        layout_(task, sets_for(task, facts_, options_.weight_sets)),
        candidates_(task, *compiler_, facts_, options_.compile_limits, options_.source_bytes_max, clock),
        base_{task_, facts_, options_.worker, options_.threads, options_.grade_limits, clock_},
        info_(info_of("cuda", facts_, *compiler_)),
        weight_seed_(options_.weight_seed) {}

  const DeviceInfo& device() const override { return info_; }
  std::vector<std::string> baselines() const override { return {"torch", "torch-graph", "torch-compile", "eager", "graph"}; }

  Result<Compiled> compile(const CompileRequest& request, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    return candidates_.compile(request, deadline, interrupts);
  }

  Result<Grade> grade(const Compiled& candidate, const GradeRequest& request, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    Grade grade;
    grade.outcome = candidate.outcome;
    if (!std::holds_alternative<Passed>(candidate.outcome)) return grade;
    for (const std::int64_t context : request.contexts)
      if (context < 0 || context > longest_context(task_))
        return invalid("a context is a number of cached tokens, at most " + std::to_string(longest_context(task_)) + ", not " +
                       std::to_string(context));
    if (auto ready = ready_reference(interrupts, deadline); !ready) return because(ready.error());
    return grade_on_gpu({base_, role_, layout_, own_.generator, own_.harness, generator_device(), weight_seed_, *reference_, options_.chain_us, info_.stream_tb_s},
                        candidate, request, deadline, interrupts);
  }

  Result<KernelProfile> profile(const ProfileRequest& request, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    if (request.context && *request.context > longest_context(task_))
      return invalid("a context is a number of cached tokens, at most " + std::to_string(longest_context(task_)));
    if (auto ready = ready_reference(interrupts, deadline); !ready) return because(ready.error());
    GpuRunner runner({base_, role_, own_.generator, own_.harness, generator_device(), weight_seed_, *reference_}, deadline, interrupts);
    return profile_kernel({base_, candidates_, true}, request, runner, deadline, interrupts);
  }

  Result<BaselineResult> baseline(const std::string& name, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    const std::vector<std::string> known = baselines();
    if (std::ranges::find(known, name) == known.end())
      return invalid("there is no baseline " + name + " on this device");
    if (name.starts_with("torch")) return torch(name, deadline, interrupts);
    if (auto ready = ready_reference(interrupts, deadline); !ready) return because(ready.error());
    BaselineResult result;
    result.name = name;
    result.gates = reference_gates_;
    result.launches = name == "graph" ? 1 : reference_->launches();
    for (const tasks::SweepPoint& point : task_.sweep) {
      auto samples = reference_->time_tokens(point.context, name == "graph", kBaselineWarmUp + kBaselineSamples);
      if (!samples) return because(samples.error());
      result.times.push_back(token_time(point.context, *samples));
    }
    return result;
  }

  Result<void> use_weights(std::uint64_t seed) override {
    if (seed == weight_seed_) return {};
    reference_.reset();
    weight_seed_ = seed;
    return {};
  }

  void interrupt() override { interrupts_.raise(); }

 private:
  // All of them come from one run of PyTorch, the first time that one is asked for.
  Result<BaselineResult> torch(const std::string& name, Deadline deadline, const Interrupts::Scope& interrupts) {
    if (!torch_problem_.empty()) return unavailable(torch_problem_);
    if (torch_.empty()) {
      const Deadline limit{std::min(deadline.at, clock_.now() + Seconds(kTorchS))};
      auto results = torch_baselines(task_, {.seed = fresh_seed()}, clock_, limit, interrupts);
      if (!results) {
        if (!interrupts.raised()) torch_problem_ = results.error().message;
        return because(results.error());
      }
      torch_ = std::move(*results);
    }
    for (const TorchResult& result : torch_)
      if (result.baseline.name == name) return result.problem.empty() ? Result<BaselineResult>(result.baseline) : unavailable(result.problem);
    return invalid("there is no baseline " + name);
  }

  static Measurement token_time(std::int64_t context, const std::vector<ChainSample>& samples) {
    Measurement time;
    time.modelled = false;
    time.context = context;
    std::vector<double> wall;
    for (std::size_t i = std::min<std::size_t>(kBaselineWarmUp, samples.size()); i < samples.size(); ++i) {
      time.raw_us.push_back(samples[i].device_us);
      wall.push_back(samples[i].wall_us + samples[i].enqueue_us);
    }
    time.n = static_cast<int>(time.raw_us.size());
    time.us_median = median_of(time.raw_us);
    if (time.n > 0) time.us_low = std::ranges::min(time.raw_us), time.us_high = std::ranges::max(time.raw_us);
    time.device = DeviceTimes{.wall_us = median_of(wall)};
    return time;
  }

  tasks::GeneratorDevice generator_device() const {
    return {static_cast<unsigned>(facts_.sms), static_cast<std::size_t>(facts_.shared_per_block)};
  }

  // The reference in its worker, made and checked when first needed and after it was lost.
  Result<void> ready_reference(const Interrupts::Scope& interrupts, Deadline deadline) {
    if (reference_ == nullptr || !reference_->usable()) {
      reference_.reset();
      auto session = DeviceSession::start(options_.worker, role_, clock_, interrupts);
      if (!session) return because(session.error());
      auto started = GpuReference::start({.task = task_,
                                          .layout = layout_,
                                          .generator = own_.generator,
                                          .eager = own_.eager,
                                          .harness = own_.harness,
                                          .generator_device = generator_device(),
                                          .weight_seed = weight_seed_,
                                          .capacity = longest_context(task_) + 2 * kChainLengthMax},
                                         std::move(*session), deadline);
      if (!started) return because(started.error());
      if (checked_seed_ != weight_seed_)
        if (auto checked = check(**started); !checked) return because(checked.error());
      reference_ = std::move(*started);
    }
    reference_->watch(interrupts, deadline);
    return {};
  }

  Result<void> check(GpuReference& reference) {
    using tasks::InputSet;
    auto nominal = Weights::make(task_, weight_seed_, InputSet::nominal, options_.threads);
    if (!nominal) return because(nominal.error());
    auto strict = strict_weights_differ(task_) ? Weights::make(task_, weight_seed_, InputSet::strict, options_.threads) : nominal;
    if (!strict) return because(strict.error());
    auto gates = check_reference(task_, reference, **nominal, **strict, options_.threads, derived_seed(weight_seed_, kCheckStream));
    if (!gates) return because(gates.error());
    reference_gates_ = std::move(*gates);
    checked_seed_ = weight_seed_;
    return {};
  }

  const tasks::Task& task_;
  const CudaOptions options_;
  const Clock& clock_;
  const std::unique_ptr<Compiler> compiler_;
  const DeviceFacts facts_;
  const DeviceLock lock_;
  const OwnModules own_;
  const std::string role_;
  const GpuLayout layout_;
  CandidateCompiler candidates_;
  const GradeBench base_;
  const DeviceInfo info_;
  Interrupts interrupts_;
  std::uint64_t weight_seed_;
  std::unique_ptr<GpuReference> reference_;
  std::optional<std::uint64_t> checked_seed_;  // of the weights that the reference was last checked on
  std::vector<GateResult> reference_gates_;
  std::vector<TorchResult> torch_;             // empty: not run yet
  std::string torch_problem_;                  // not empty: it failed, and is not tried again
};

CudaOptions completed(CudaOptions options) {
  if (options.worker.empty()) options.worker = find_worker();
  if (options.cache.empty()) options.cache = default_cache_folder();
  if (options.locks.empty()) options.locks = default_lock_folder();
  return options;
}

// A GPU that is ours, and what runs and compiles there.
struct Opened {
  DeviceSession session;
  DeviceFacts facts;
  DeviceLock lock;
  std::unique_ptr<Compiler> compiler;
  ModuleSpec harness;
};

Result<Opened> open_device(const CudaOptions& options, const Clock& clock, const Interrupts::Scope& interrupts) {
  auto session = DeviceSession::start(options.worker, role_of(options), clock, interrupts);
  if (!session) return because(session.error(), "starting the GPU");
  auto facts = session->facts("");
  if (!facts) return because(facts.error(), "starting the GPU");
  auto lock = DeviceLock::take(options.locks, facts->uuid, options.purpose, clock);
  if (!lock) return because(lock.error());
  auto compiler = Compiler::start(options.worker, options.cache, clock);
  if (!compiler) return because(compiler.error(), "starting the compiler");
  auto harness = compile_own(**compiler, kHarnessModule, harness_source(), facts->target, clock, interrupts);
  if (!harness) return because(harness.error());
  return Opened{std::move(*session), std::move(*facts), std::move(*lock), std::move(*compiler), std::move(*harness)};
}

// Kept ones where they say enough, else measured and kept.
Result<Ceilings> ceilings_of(Opened& opened, const CudaOptions& options, bool complete, const Clock& clock,
                             const Interrupts::Scope& interrupts) {
  const CeilingStore store(options.cache);
  if (auto kept = store.find(opened.facts.uuid, opened.facts.driver_version, clock.utc_now());
      kept && !options.fresh_ceilings && (kept->complete || !complete))
    return std::move(*kept);
  auto microbench = compile_own(*opened.compiler, kMicrobenchModule, microbench_source(), opened.facts.target, clock, interrupts);
  if (!microbench) return because(microbench.error());
  const MicrobenchPlan plan = options.ceilings_plan.value_or(microbench_plan(opened.facts, complete));
  auto ceilings = run_microbench(opened.session, {std::move(*microbench), opened.harness}, opened.facts, plan, clock,
                                 Deadline::after(clock, Seconds(kCeilingsS)));
  if (!ceilings) return because(ceilings.error());
  [[maybe_unused]] const auto stored = store.store(*ceilings);  // a disk that refuses costs only time
  return ceilings;
}

// A device that is emulated knows its own.
void find_ceilings(Opened& opened, const CudaOptions& options, const Clock& clock, const Interrupts::Scope& interrupts) {
  DeviceFacts& facts = opened.facts;
  if (facts.stream_tb_s > 0 && !options.ceilings_plan) return;
  const auto ceilings = ceilings_of(opened, options, false, clock, interrupts);
  if (!ceilings) return facts.warnings.push_back("no floor: " + ceilings.error().message);
  facts.stream_tb_s = ceilings->stream_tb_s;
  facts.grid_barrier_us = ceilings->grid_barrier_us;
  facts.launch_us = ceilings->launch_us;
}

}  // namespace

Result<std::unique_ptr<Sandbox>> open_cuda(const tasks::Task& task, const CudaOptions& options, const Clock& clock) {
  CudaOptions complete = completed(options);
  Interrupts nobody;
  const Interrupts::Scope interrupts(nobody);
  auto opened = open_device(complete, clock, interrupts);
  if (!opened) return because(opened.error());
  const std::int64_t capacity = longest_context(task) + 2 * kChainLengthMax;
  Compiler& compiler = *opened->compiler;
  const std::string target = opened->facts.target;
  auto generator = compile_own(compiler, kGeneratorModule, tasks::generator_source(), target, clock, interrupts);
  if (!generator) return because(generator.error());
  auto eager = compile_own(compiler, kEagerModule, tasks::eager_plan(task, capacity, tasks::EagerSums::f64).source, target, clock, interrupts);
  if (!eager) return because(eager.error());
  find_ceilings(*opened, complete, clock, interrupts);
  return std::make_unique<CudaSandbox>(task, std::move(complete), clock, std::move(opened->compiler), std::move(opened->facts), std::move(opened->lock),
                                       OwnModules{std::move(*generator), std::move(*eager), std::move(opened->harness)});
}

Result<Ceilings> cuda_ceilings(const CudaOptions& options, const Clock& clock) {
  const CudaOptions all = completed(options);
  Interrupts nobody;
  const Interrupts::Scope interrupts(nobody);
  auto opened = open_device(all, clock, interrupts);
  if (!opened) return because(opened.error());
  return ceilings_of(*opened, all, true, clock, interrupts);
}

Result<Ceilings> emulated_ceilings(const std::filesystem::path& worker, const std::string& target, const Clock& clock) {
  Interrupts nobody;
  const Interrupts::Scope interrupts(nobody);
  auto session = DeviceSession::start(worker.empty() ? find_worker() : worker, "emu", clock, interrupts);
  if (!session) return because(session.error());
  const auto facts = session->facts(target);
  if (!facts) return because(facts.error());
  Ceilings ceilings;
  ceilings.device = facts->name, ceilings.target = facts->target;
  ceilings.modelled = ceilings.complete = true;
  ceilings.stream_tb_s = facts->stream_tb_s;
  ceilings.grid_barrier_us = facts->grid_barrier_us;
  ceilings.launch_us = facts->launch_us;
  return ceilings;
}

}  // namespace onelaunch::sandbox
