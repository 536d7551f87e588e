#pragma once
// A sandbox without a device: times come from a function of the tunables, failures from the test.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "sandbox/host/sandbox.h"
#include "tests/fakes/fake_clock.h"

namespace onelaunch::fakes {

class FakeSandbox final : public sandbox::Sandbox {
 public:
  // What a candidate does. The default is to pass with 100 us.
  struct Behaviour {
    sandbox::Outcome compile = sandbox::Passed{}, grade = sandbox::Passed{};
    double us = 100;
    double grade_s = 1;  // taken from the fake clock
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

  // A control kernel is one that test sources never look like: it includes the header and declares no tunable.
  static bool is_control(const std::string& source) {
    return source.find("megakernel") != std::string::npos && source.find("OL_TUNABLE") == std::string::npos;
  }

  const sandbox::DeviceInfo& device() const override { return device_; }
  std::vector<std::string> baselines() const override { return {"eager"}; }

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
    if (std::holds_alternative<sandbox::Passed>(grade.outcome)) grade.times = times_of(behaviour.us);
    grade.measure_s = behaviour.grade_s / 4;
    return grade;
  }

  Result<sandbox::BaselineResult> baseline(const std::string& name, Deadline) override {
    return sandbox::BaselineResult{.name = name, .times = times_of(1000), .gates = {}, .launches = 7};
  }

  Result<void> use_weights(std::uint64_t) override { return ++weights, Result<void>(); }
  void interrupt() override { ++interrupts; }

  Script script = [](const sandbox::TunableValues&) { return Behaviour{}; };
  std::function<void()> before_grade;
  sandbox::Outcome control = sandbox::WrongAnswer{"zeros"};
  std::optional<sandbox::Outcome> regrade;   // of the closing, after the weights changed
  int compile_errors = 0, grade_errors = 0;  // this many calls fail from our side
  int compiles = 0, weights = 0;
  static constexpr double kQuickShare = 0.125;
  int quick_grades = 0;
  std::atomic<int> grades{0}, interrupts{0};
  std::vector<sandbox::TunableValues> compiled_tunables;

 private:
  static std::vector<sandbox::Measurement> times_of(double us) {
    sandbox::Measurement time;
    time.context = 32;
    time.us_median = time.us_low = time.us_high = us;
    time.n = 1;
    time.raw_us = {us};
    return {time};
  }

  FakeClock& clock_;
  sandbox::DeviceInfo device_;
  std::mutex mutex_;
};

}  // namespace onelaunch::fakes
