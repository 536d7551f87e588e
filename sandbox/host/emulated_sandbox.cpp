#include "sandbox/host/emulated_sandbox.h"

#include <map>
#include <mutex>

#include "sandbox/host/candidate_compiler.h"
#include "sandbox/host/compiler.h"
#include "sandbox/host/device_session.h"
#include "sandbox/host/eager_baseline.h"
#include "sandbox/host/emulated_profile.h"
#include "sandbox/host/grade_plan.h"

namespace onelaunch::sandbox {
namespace {

class EmulatedSandbox final : public Sandbox {
 public:
  EmulatedSandbox(const tasks::Task& task, EmulatedOptions options, const Clock& clock, std::unique_ptr<Compiler> compiler,
                  DeviceFacts facts)
      : task_(task),
        options_(std::move(options)),
        clock_(clock),
        compiler_(std::move(compiler)),
        facts_(std::move(facts)),
        candidates_(task, *compiler_, facts_, options_.compile_limits, options_.source_bytes_max, clock),
        info_(info_of("emu", facts_, *compiler_)),
        weight_seed_(options_.weight_seed) {}

  const DeviceInfo& device() const override { return info_; }
  std::vector<std::string> baselines() const override { return {"eager"}; }

  Result<Compiled> compile(const CompileRequest& request, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    return candidates_.compile(request, deadline, interrupts);
  }

  Result<Grade> grade(const Compiled& candidate, const GradeRequest& request, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    if (!std::holds_alternative<Passed>(candidate.outcome)) {
      Grade grade;
      grade.outcome = candidate.outcome;
      return grade;
    }
    for (const std::int64_t context : request.contexts)
      if (context < 0) return invalid("a context is a number of cached tokens, not " + std::to_string(context));
    return grade_candidate(bench(), candidate, request, [this](tasks::InputSet set) { return weights(set); }, deadline, interrupts);
  }

  Result<KernelProfile> profile(const ProfileRequest& request, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    auto of_nominal = weights(tasks::InputSet::nominal);
    if (!of_nominal) return because(of_nominal.error());
    const GradeBench bench = this->bench();
    EmulatedRunner runner(bench, **of_nominal, deadline, interrupts);
    const bool heavy = (*of_nominal)->arena().bytes > kHeavyWeightBytes;
    return profile_kernel({bench, candidates_, false, heavy}, request, runner, deadline, interrupts);
  }

  Result<BaselineResult> baseline(const std::string& name, Deadline deadline) override {
    const Interrupts::Scope interrupts(interrupts_);
    if (name != "eager") return invalid("there is no baseline " + name + " on the emulated device; there is: eager");
    auto of_nominal = weights(tasks::InputSet::nominal);
    if (!of_nominal) return because(of_nominal.error());
    return eager_baseline(bench(), *compiler_, **of_nominal, deadline, interrupts);
  }

  Result<void> use_weights(std::uint64_t seed) override {
    const std::lock_guard lock(weights_mutex_);
    // The old ones go first: two full sets need not fit.
    weights_.clear();
    weight_seed_ = seed;
    return {};
  }

  void interrupt() override { interrupts_.raise(); }

 private:
  GradeBench bench() const {
    return {task_, facts_, options_.worker, options_.threads, options_.grade_limits, clock_};
  }

  // A task whose weights are the same on both input sets has one set of them.
  Result<std::shared_ptr<const Weights>> weights(tasks::InputSet set) {
    const std::lock_guard lock(weights_mutex_);
    if (!strict_weights_differ(task_)) set = tasks::InputSet::nominal;
    std::shared_ptr<const Weights>& known = weights_[set];
    if (known != nullptr) return known;
    auto made = Weights::make(task_, weight_seed_, set, options_.threads);
    if (!made) return because(made.error());
    known = *made;
    return known;
  }

  const tasks::Task& task_;
  const EmulatedOptions options_;
  const Clock& clock_;
  const std::unique_ptr<Compiler> compiler_;
  const DeviceFacts facts_;
  CandidateCompiler candidates_;
  const DeviceInfo info_;
  Interrupts interrupts_;
  std::mutex weights_mutex_;
  std::uint64_t weight_seed_;
  std::map<tasks::InputSet, std::shared_ptr<const Weights>> weights_;
};

Result<DeviceFacts> ask_for_facts(const EmulatedOptions& options, const Clock& clock) {
  Interrupts nobody;
  const Interrupts::Scope interrupts(nobody);
  auto session = DeviceSession::start(options.worker, "emu", clock, interrupts);
  if (!session) return because(session.error());
  return session->facts(options.target);
}

}  // namespace

Result<std::unique_ptr<Sandbox>> open_emulated(const tasks::Task& task, const EmulatedOptions& options, const Clock& clock) {
  EmulatedOptions complete = options;
  if (complete.worker.empty()) complete.worker = find_worker();
  if (complete.cache.empty()) complete.cache = default_cache_folder();
  auto compiler = Compiler::start(complete.worker, complete.cache, clock);
  if (!compiler) return because(compiler.error(), "starting the compiler");
  auto facts = ask_for_facts(complete, clock);
  if (!facts) return because(facts.error(), "starting the emulated device");
  return std::make_unique<EmulatedSandbox>(task, std::move(complete), clock, std::move(*compiler), std::move(*facts));
}

}  // namespace onelaunch::sandbox
