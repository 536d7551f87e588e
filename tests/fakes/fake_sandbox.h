#pragma once
// A sandbox without a device: times come from a function of the tunables, failures from the test. Modelled like those
// of the emulator, or with become_gpu() measured and noisy.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "sandbox/host/sandbox.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/noisy_timer.h"

namespace onelaunch::fakes {

class FakeSandbox final : public sandbox::Sandbox {
 public:
  // What a candidate does. The default is to pass with 100 us.
  struct Behaviour {
    sandbox::Outcome compile = sandbox::Passed{}, grade = sandbox::Passed{};
    double us = 100;
    double grade_s = 1;      // taken from the fake clock
    std::string quarantine;  // of a grade on a GPU
  };
  using Script = std::function<Behaviour(const sandbox::TunableValues&)>;

  explicit FakeSandbox(FakeClock& clock) : clock_(clock) {
    device_.kind = "emu";
    device_.name = "H200 (emulated)";
    device_.target = "sm_90a";
    device_.nvrtc_version = "13.0";
    device_.stream_tb_s = 4.71;
    device_.containment = "landlock";
    device_.sms = 132;
  }

  // Measured times at three contexts, paired where asked for.
  void become_gpu(const std::string& uuid, std::uint64_t noise_seed = 1, TimingNoise noise = {}) {
    device_.kind = "cuda";
    device_.name = "NVIDIA H200";
    device_.uuid = uuid;
    device_.driver_version = "580.1";
    contexts = {2048, 8192, 16384};
    timer_.emplace(noise_seed, noise);
  }

  void warn(const std::string& text) { device_.warnings.push_back(text); }

  // A control kernel is one that test sources never look like: it includes the header and declares no tunable.
  static bool is_control(const std::string& source) {
    return source.find("megakernel") != std::string::npos && source.find("OL_TUNABLE") == std::string::npos;
  }

  const sandbox::DeviceInfo& device() const override { return device_; }
  std::vector<std::string> baselines() const override { return baseline_names; }

  Result<sandbox::Compiled> compile(const sandbox::CompileRequest& request, Deadline) override {
    const std::lock_guard lock(mutex_);
    ++compiles;
    compiled_tunables.push_back(request.tunables);
    if (compile_errors > 0) return --compile_errors, fail(Error::Kind::worker_lost, "the worker died");
    sandbox::Compiled compiled;
    if (!is_control(request.source)) compiled.outcome = script(request.tunables).compile;
    compiled.source_sha256 = sha256_hex(request.source);
    compiled.ptx = request.source;
    compiled.cubin = "cubin";
    compiled.cubin_sha256 = sha256_hex(compiled.cubin);
    compiled.tunables = request.tunables;
    compiled.seconds = compile_s;
    return compiled;
  }

  Result<sandbox::Grade> grade(const sandbox::Compiled& candidate, const sandbox::GradeRequest& request,
                               Deadline deadline) override {
    if (before_grade) before_grade();
    ++grades;
    if (grade_errors > 0) return --grade_errors, fail(Error::Kind::worker_lost, "the worker died");
    sandbox::Grade grade;
    if (is_control(candidate.ptx)) {
      grade.outcome = control;
      return grade;
    }
    Behaviour behaviour = script(candidate.tunables);
    if (request.check == sandbox::Check::quick) behaviour.grade_s *= kQuickShare, ++quick_grades;
    const double left = deadline.left(clock_).count();
    clock_.advance(std::min(behaviour.grade_s, std::max(0.0, left)));
    if (behaviour.grade_s > left) {
      grade.outcome = sandbox::TimedOut{.what = "grade", .limit_s = left};
      return grade;
    }
    grade.outcome = weights > 1 && regrade ? *regrade : behaviour.grade;
    if (std::holds_alternative<sandbox::Passed>(grade.outcome)) time(grade, behaviour, request);
    grade.measure_s = behaviour.grade_s / 4;
    if (amend) amend(grade, candidate.tunables);
    return grade;
  }

  Result<sandbox::KernelProfile> profile(const sandbox::ProfileRequest& request, Deadline) override {
    sandbox::KernelProfile profile;
    profile.source_sha256 = sha256_hex(request.source), profile.tunables = request.tunables;
    profile.modelled = !timer_.has_value(), profile.context = request.context.value_or(contexts.front());
    profile.token_us = script(request.tunables).us, profile.launches = 1;
    profile.phases = {{.name = "kernel", .passes = 1, .blocks = 1, .share = 1, .critical_us = profile.token_us}};
    return profile;
  }

  Result<sandbox::BaselineResult> baseline(const std::string& name, Deadline) override {
    ++baseline_calls[name];
    if (const auto broken = baseline_errors.find(name); broken != baseline_errors.end())
      return tl::unexpected(broken->second);
    return sandbox::BaselineResult{.name = name, .times = times_of(1000), .gates = {}, .launches = 7};
  }

  Result<void> use_weights(std::uint64_t) override { return ++weights, Result<void>(); }
  void interrupt() override { ++interrupts; }

  Script script = [](const sandbox::TunableValues&) { return Behaviour{}; };
  std::function<void()> before_grade;
  std::function<void(sandbox::Grade&, const sandbox::TunableValues&)> amend;  // what grade() is about to return
  std::vector<std::string> baseline_names{"eager"};
  std::map<std::string, Error> baseline_errors;
  std::map<std::string, int> baseline_calls;
  std::vector<std::int64_t> contexts{32};
  double compile_s = 0;   // as compiles say
  bool gives_up = false;  // no pairs of what is slower than stop_above
  bool looks = false;     // then not even all contexts
  sandbox::Outcome control = sandbox::WrongAnswer{"zeros"};
  std::optional<sandbox::Outcome> regrade;   // of the closing, after the weights changed
  int compile_errors = 0, grade_errors = 0;  // this many calls fail from our side
  int compiles = 0, weights = 0;
  static constexpr double kQuickShare = 0.125;
  int quick_grades = 0, paired_grades = 0;
  std::atomic<int> grades{0}, interrupts{0};
  std::vector<sandbox::TunableValues> compiled_tunables;

 private:
  static constexpr int kRounds = 13;  // of pairs in a second, at three contexts
  static constexpr int kSoloChains = 11;

  void time(sandbox::Grade& grade, const Behaviour& behaviour, const sandbox::GradeRequest& request) {
    if (timer_) timer_->start();
    grade.times = times_of(behaviour.us);
    grade.quarantine = behaviour.quarantine;
    if (!timer_ || request.against == nullptr) return;
    if (looks && request.stop_above && behaviour.us > request.stop_above->first_us) return grade.times.resize(1);
    if (gives_up && request.stop_above && sandbox::score_us(grade.times) > request.stop_above->score_us) return;
    ++paired_grades;
    const double against_us = script(request.against->tunables).us;
    std::vector<NoisyTimer::Truth> truths;
    for (const std::int64_t context : contexts)
      truths.push_back({.context = context, .candidate_us = behaviour.us, .against_us = against_us});
    grade.pairs = timer_->worker(truths, kRounds);
  }

  std::vector<sandbox::Measurement> times_of(double us) {
    std::vector<sandbox::Measurement> times;
    for (const std::int64_t context : contexts) {
      sandbox::Measurement& time = times.emplace_back();
      time.context = context;
      time.modelled = !timer_.has_value();
      time.raw_us = timer_ ? timer_->alone(us, kSoloChains) : std::vector<double>{us};
      time.n = static_cast<int>(time.raw_us.size());
      std::vector<double> sorted = time.raw_us;
      std::ranges::sort(sorted);
      time.us_median = sorted[sorted.size() / 2], time.us_low = sorted.front(), time.us_high = sorted.back();
      if (timer_) time.device = device_times(us);
    }
    return times;
  }

  static sandbox::DeviceTimes device_times(double us) {
    return {.token_loop_us = 0.98 * us,
            .wall_us = 1.1 * us,
            .enqueue_us = 3.5,
            .cold_us = 1.05 * us,
            .strict_over_nominal = 1.004,
            .launches = 1,
            .sm_mhz_low = 1965,
            .sm_mhz_high = 1980,
            .memory_mhz = 3201,
            .power_w_high = 410,
            .temperature_c_high = 43,
            .throttle_reasons = 0x5};
  }

  FakeClock& clock_;
  sandbox::DeviceInfo device_;
  std::optional<NoisyTimer> timer_;  // of a GPU
  std::mutex mutex_;
};

}  // namespace onelaunch::fakes
