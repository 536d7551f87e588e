#include "agent/loop/measured_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "agent/loop/statistics.h"
#include "base/check.h"

namespace onelaunch::agent {
namespace {

// Two different kernels may differ more from worker to worker than one differs from itself, and an A/A test of five
// workers may look quieter than it is.
constexpr double kScreenSdMin = 0.001, kWorkerSdMin = 0.0005;
constexpr double kScreenDeviations = 2;
constexpr double kHopeDeviations = 3;
constexpr double kTwoSided95 = 0.025;
constexpr double kErrorPace = 200;  // after so many confirmations half of the error rate is used

std::vector<double> gains_of(const std::vector<WorkerGain>& workers) {
  std::vector<double> gains;
  for (const WorkerGain& worker : workers) gains.push_back(worker.gain);
  return gains;
}

// The gain of the i-th context in every worker.
std::vector<double> gains_at(const std::vector<WorkerGain>& workers, std::size_t i) {
  std::vector<double> gains;
  for (const WorkerGain& worker : workers)
    if (i < worker.contexts.size()) gains.push_back(worker.contexts[i].gain);
  return gains;
}

double half_width(const std::vector<double>& gains, double tail) {
  return student_quantile(tail, static_cast<int>(gains.size()) - 1) * deviation_of(gains) /
         std::sqrt(static_cast<double>(gains.size()));
}

double fraction(double gain) { return std::expm1(gain); }

std::string between(double low, double high) {
  char text[64];
  std::snprintf(text, sizeof text, "%+.2f to %+.2f %%", 100 * fraction(low), 100 * fraction(high));
  return text;
}

std::string asked(const MeasuredRule& rule) {
  const bool by_noise = rule.least_gain() > rule.min_gain;
  return print_percent(rule.least_gain()) + " is asked" +
         (by_noise ? " (" + std::to_string(static_cast<int>(kNoiseTimes)) + " times the A/A noise)" : "");
}

// A context that loses too much, noise granted in its favour.
std::optional<std::string> losing_context(const std::vector<WorkerGain>& workers) {
  for (std::size_t i = 0; i < workers.front().contexts.size(); ++i) {
    const std::vector<double> gains = gains_at(workers, i);
    const double best = mean_of(gains) + half_width(gains, 2 * kTwoSided95);
    if (fraction(best) < -kContextLossMax)
      return print_percent(-fraction(mean_of(gains))) + " slower at context " +
             std::to_string(workers.front().contexts[i].context);
  }
  return std::nullopt;
}

// A time taken alone and one taken in turns are of the same launches. Empty when they agree.
std::string odd_when_alone(const std::vector<WorkerGain>& workers) {
  std::vector<double> faster, slower;
  for (const WorkerGain& worker : workers) {
    faster.push_back(worker.faster_beside);
    slower.push_back(worker.slower_beside);
  }
  const auto differ = [](const char* how, double most) {
    return std::string("next to the incumbent it is ") + how + " than alone by more than " + print_percent(most);
  };
  if (median_of(std::move(faster)) > kFasterBesideMax) return differ("faster", kFasterBesideMax);
  if (median_of(std::move(slower)) > kSlowerBesideMax) return differ("slower", kSlowerBesideMax);
  return "";
}

// Why it is not kept; nothing when it is.
std::string objection(const std::vector<WorkerGain>& workers, const MeasuredRule& rule, int test) {
  const std::vector<double> gains = gains_of(workers);
  const double gain = mean_of(gains);
  if (std::ssize(workers) < kConfirmingWorkers)
    return "only " + std::to_string(workers.size()) + " of " + std::to_string(kConfirmingWorkers) +
           " workers confirmed";
  if (fraction(gain) < rule.least_gain()) return "at least " + asked(rule);
  if (std::ranges::min(gains) <= 0) return "one of the workers saw no gain";
  if (gain - half_width(gains, error_share(test)) <= 0)
    return "the workers differ too much to rule out that it gains nothing";
  if (const auto loses = losing_context(workers)) return *loses;
  return "";
}

}  // namespace

NoiseFloor noise_floor(const std::vector<WorkerGain>& workers) {
  OL_CHECK(workers.size() >= 2, "an A/A test takes at least two workers");
  const std::vector<double> gains = gains_of(workers);
  NoiseFloor noise{.half_width = std::max(half_width(gains, kTwoSided95), std::abs(mean_of(gains))),
                   .worker_sd = deviation_of(gains),
                   .context_sd = 0,
                   .n = 0,
                   .workers = static_cast<int>(workers.size())};
  for (const WorkerGain& worker : workers) noise.n += worker.n;
  for (std::size_t i = 0; i < workers.front().contexts.size(); ++i)
    noise.context_sd = std::max(noise.context_sd, deviation_of(gains_at(workers, i)));
  return noise;
}

double MeasuredRule::least_gain() const { return std::max(min_gain, kNoiseTimes * noise.half_width); }

Screened screen_measured(const WorkerGain& worker, const MeasuredRule& rule) {
  const double spread = kScreenDeviations * std::hypot(std::max(rule.noise.worker_sd, kScreenSdMin), worker.error);
  const double low = worker.gain - spread, high = worker.gain + spread;
  Screened screened{.promising = fraction(high) >= rule.least_gain(),
                    .ratio = std::exp(worker.gain),
                    .low = std::exp(low),
                    .high = std::exp(high),
                    .reason = {}};
  screened.reason = describe_gain(fraction(worker.gain)) + " in a first worker (" + between(low, high) + ", " +
                    std::to_string(worker.n) + " pairs)";
  if (!screened.promising) screened.reason += "; " + asked(rule);
  for (const ContextGain& context : worker.contexts) {
    const double noise = std::max({rule.noise.context_sd, rule.noise.worker_sd, kScreenSdMin});
    const double best = context.gain + kScreenDeviations * std::hypot(noise, context.error);
    if (!screened.promising || fraction(best) >= -kContextLossMax) continue;
    screened.promising = false;
    screened.reason +=
        ", but " + print_percent(-fraction(context.gain)) + " slower at context " + std::to_string(context.context);
  }
  return screened;
}

double error_share(int test) {
  OL_CHECK(test >= 1, "tests are counted from 1");
  return kSessionErrorRate * kErrorPace / ((test + kErrorPace - 1) * (test + kErrorPace));
}

std::optional<std::string> beyond_hope(const std::vector<WorkerGain>& workers, const MeasuredRule& rule) {
  if (workers.empty()) return std::nullopt;
  const std::vector<double> gains = gains_of(workers);
  const std::string after =
      " after " + std::to_string(workers.size()) + " of " + std::to_string(kConfirmingWorkers) + " confirming workers";
  if (std::ranges::min(gains) <= 0) return "a fresh worker saw no gain" + after;
  if (workers.size() < 2) return std::nullopt;
  const double spread = kHopeDeviations * std::max({rule.noise.worker_sd, kWorkerSdMin, deviation_of(gains)}) /
                        std::sqrt(static_cast<double>(gains.size()));
  if (fraction(mean_of(gains) + spread) >= rule.least_gain()) return std::nullopt;
  return asked(rule) + after;
}

KeepDecision decide_measured(const std::vector<WorkerGain>& workers, const MeasuredRule& rule, int test) {
  OL_CHECK(!workers.empty(), "a confirmation has workers");
  const std::vector<double> gains = gains_of(workers);
  const double gain = mean_of(gains), spread = workers.size() < 2 ? 0 : half_width(gains, kTwoSided95);
  KeepDecision decision;
  decision.ratio = std::exp(gain);
  decision.low = std::exp(gain - spread);
  decision.high = std::exp(gain + spread);
  decision.workers = static_cast<int>(workers.size());
  decision.n = 0;
  for (const WorkerGain& worker : workers) decision.n += worker.n, decision.discarded += worker.discarded;
  decision.reason = describe_gain(fraction(gain)) + " than the incumbent (" + between(gain - spread, gain + spread) +
                    ", " + std::to_string(decision.n) + " pairs in " + std::to_string(decision.workers) +
                    (decision.workers == 1 ? " fresh worker)" : " fresh workers)");
  std::string against = objection(workers, rule, test);
  if (workers.size() < kConfirmingWorkers)
    if (const auto hopeless = beyond_hope(workers, rule)) against = *hopeless;
  decision.keep = against.empty();
  if (!decision.keep) decision.reason += "; " + against;
  if (const std::string odd = odd_when_alone(workers); decision.keep && !odd.empty()) {
    decision.keep = false;
    decision.quarantine = true;
    decision.reason += "; but " + odd;
  }
  return decision;
}

}  // namespace onelaunch::agent
