#include "agent/cli/kernel_comparison.h"

#include <algorithm>
#include <cmath>

#include "agent/loop/measured_rule.h"
#include "agent/loop/statistics.h"

namespace onelaunch::cli {
namespace {

using sandbox::TunableValues;

constexpr double kTail = 0.025;        // either side of a 95 % interval

struct Define {
  std::string name;
  std::vector<std::string> values;
};

Result<Define> parse_define(const std::string& text) {
  const auto refuse = [&](const std::string& why) { return invalid("-D " + text + ": " + why); };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return refuse("NAME=VALUE or NAME=VALUE,VALUE,... was expected");
  Define define{text.substr(0, equals), {}};
  for (std::size_t from = equals + 1; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string value = text.substr(from, comma - from);
    if (value.empty()) return refuse("a value is missing");
    if (std::ranges::find(define.values, value) != define.values.end()) return refuse("the value " + value + " is there twice");
    define.values.push_back(value);
    from = comma + 1;
  }
  if (define.values.empty()) return refuse("a value is missing");
  return define;
}

SpeedOverFirst modelled_speed(double us, double first_us) { return {.ratio = first_us / us, .low = first_us / us, .high = first_us / us}; }

// The interval is that of one worker: what differs between workers is not in it.
void add_measured_speed(ComparedKernel& kernel, const sandbox::Grade& grade) {
  const agent::WorkerGain gain = agent::gain_of(grade);
  if (!gain.unusable.empty()) {
    kernel.no_ratio = gain.unusable;
    return;
  }
  const double half = agent::student_quantile(kTail, std::max(1, gain.n - 1)) * gain.error;
  kernel.over_first = SpeedOverFirst{.ratio = std::exp(gain.gain),
                                     .low = std::exp(gain.gain - half),
                                     .high = std::exp(gain.gain + half),
                                     .interval = true,
                                     .pairs = gain.n};
}

class Comparison {
 public:
  Comparison(sandbox::Sandbox& sandbox, const ComparisonOptions& options, const Clock& clock) : sandbox_(sandbox), options_(options), clock_(clock) {}

  Result<ComparedKernel> next(const KernelVariant& variant) {
    auto compiled = sandbox_.compile({.source = variant.source, .tunables = variant.tunables},
                                     Deadline::after(clock_, Seconds(options_.compile_s)));
    if (!compiled) return because(compiled.error(), "compiling " + variant.name);
    ComparedKernel kernel{.name = variant.name, .tunables = compiled->tunables, .outcome = compiled->outcome};
    if (!kernel.passed()) return kernel;
    auto grade = sandbox_.grade(*compiled,
                                {.check = sandbox::Check::full,
                                 .seed = options_.seed,
                                 .against = measured() && first_ ? &*first_ : nullptr,
                                 .pair_s = options_.pair_s},
                                Deadline::after(clock_, Seconds(options_.grade_s)));
    if (!grade) return because(grade.error(), "grading " + variant.name);
    kernel.outcome = grade->outcome;
    kernel.quarantine = grade->quarantine;
    kernel.times = grade->times;
    if (!grade->times.empty()) kernel.us = sandbox::score_us(grade->times);
    if (kernel.passed()) place(kernel, *grade, std::move(*compiled));
    return kernel;
  }

 private:
  bool measured() const { return sandbox_.device().kind == "cuda"; }

  void place(ComparedKernel& kernel, const sandbox::Grade& grade, sandbox::Compiled compiled) {
    if (!first_) {
      kernel.first = true;
      first_ = std::move(compiled);
      first_us_ = kernel.us.value_or(0);
    } else if (measured()) {
      add_measured_speed(kernel, grade);
    } else if (kernel.us.value_or(0) > 0 && first_us_ > 0) {
      kernel.over_first = modelled_speed(*kernel.us, first_us_);
    }
  }

  sandbox::Sandbox& sandbox_;
  const ComparisonOptions& options_;
  const Clock& clock_;
  std::optional<sandbox::Compiled> first_;
  double first_us_ = 0;
};

}  // namespace

Result<std::vector<TunableValues>> tunable_combinations(const std::vector<std::string>& defines) {
  std::vector<TunableValues> all(1);
  for (const std::string& text : defines) {
    const Result<Define> define = parse_define(text);
    if (!define) return because(define.error());
    if (all.front().contains(define->name)) return invalid("-D " + text + ": " + define->name + " is there twice");
    if (all.size() * define->values.size() > kCombinationsMax)
      return invalid("-D " + text + ": more than " + std::to_string(kCombinationsMax) + " combinations of values");
    std::vector<TunableValues> longer;
    for (const TunableValues& values : all)
      for (const std::string& value : define->values) longer.emplace_back(values)[define->name] = value;
    all = std::move(longer);
  }
  return all;
}

Result<std::vector<ComparedKernel>> compare_kernels(sandbox::Sandbox& sandbox, const std::vector<KernelVariant>& variants,
                                                    const ComparisonOptions& options, const Clock& clock,
                                                    const std::function<void(const std::string&)>& say) {
  Comparison comparison(sandbox, options, clock);
  std::vector<ComparedKernel> kernels;
  for (const KernelVariant& variant : variants) {
    say(variant.name + " (" + std::to_string(kernels.size() + 1) + " of " + std::to_string(variants.size()) + ")");
    auto kernel = comparison.next(variant);
    if (!kernel) return because(kernel.error());
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

}  // namespace onelaunch::cli
