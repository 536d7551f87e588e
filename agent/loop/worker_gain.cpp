#include <algorithm>
#include <cmath>

#include "agent/loop/measured_rule.h"
#include "agent/loop/statistics.h"
#include "sandbox/host/measure.h"

namespace onelaunch::agent {
namespace {

constexpr int kPairsMin = 8;  // of a context that are left

// The pairs of one context on one kind of inputs.
struct Stream {
  std::vector<double> candidate_us, against_us;  // without the discarded
  std::vector<double> gains;
  int discarded = 0;
};

// Nominal and strict inputs in turn: every second pair from `first`.
Stream stream_of(const sandbox::PairedTimes& pairs, std::size_t first) {
  std::vector<double> candidate, against;
  for (std::size_t i = first; i < pairs.candidate_us.size(); i += 2) {
    candidate.push_back(pairs.candidate_us[i]);
    against.push_back(pairs.against_us[i]);
  }
  const std::vector<bool> far = far_above_neighbours(candidate, kOutlierTimes);
  const std::vector<bool> far_against = far_above_neighbours(against, kOutlierTimes);
  Stream stream;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    if (far[i] || far_against[i]) {
      ++stream.discarded;
      continue;
    }
    stream.candidate_us.push_back(candidate[i]);
    stream.against_us.push_back(against[i]);
    stream.gains.push_back(std::log(against[i] / candidate[i]));
  }
  return stream;
}

// A candidate that is slow on strict inputs only is as fast as it is on those.
double gain_of_streams(const Stream& nominal, const Stream& strict) {
  const double on_nominal = median_of(nominal.gains), on_strict = median_of(strict.gains);
  const double both = (on_nominal + on_strict) / 2;
  const double slower = median_of(strict.candidate_us) / median_of(nominal.candidate_us);
  return slower > sandbox::kStrictOverNominalMax ? std::min(on_strict, both) : both;
}

bool times_are_sound(const sandbox::PairedTimes& pairs) {
  const auto sound = [](double us) { return std::isfinite(us) && us > 0; };
  return pairs.candidate_us.size() == pairs.against_us.size() && std::ranges::all_of(pairs.candidate_us, sound) &&
         std::ranges::all_of(pairs.against_us, sound);
}

// How much slower than alone it is next to the other kernel, as a fraction; below 0 when it is faster. The time alone
// may be that of either inputs: the nearer counts.
double slower_beside(const std::vector<sandbox::Measurement>& times, std::int64_t context, const Stream& nominal,
                     const Stream& strict) {
  for (const sandbox::Measurement& time : times) {
    if (time.context != context || !(time.us_median > 0)) continue;
    const double on_nominal = median_of(nominal.candidate_us) / time.us_median - 1;
    const double on_strict = median_of(strict.candidate_us) / time.us_median - 1;
    return std::abs(on_nominal) < std::abs(on_strict) ? on_nominal : on_strict;
  }
  return 0;
}

void see_company(WorkerGain& worker, double slower) {
  worker.slower_beside = std::max(worker.slower_beside, slower);
  worker.faster_beside = std::max(worker.faster_beside, -slower);
}

std::string at(std::int64_t context) { return " at context " + std::to_string(context); }

void add_context(WorkerGain& worker, const sandbox::Grade& grade, const sandbox::PairedTimes& pairs) {
  if (!times_are_sound(pairs)) {
    worker.unusable = "the paired times" + at(pairs.context) + " are not all positive, or not in pairs";
    return;
  }
  const Stream nominal = stream_of(pairs, 0), strict = stream_of(pairs, 1);
  ContextGain found{.context = pairs.context,
                    .gain = gain_of_streams(nominal, strict),
                    .error = std::hypot(error_of_median(nominal.gains), error_of_median(strict.gains)) / 2,
                    .n = static_cast<int>(nominal.gains.size() + strict.gains.size()),
                    .discarded = nominal.discarded + strict.discarded};
  worker.n += found.n;
  worker.discarded += found.discarded;
  if (found.n < kPairsMin || nominal.gains.empty() || strict.gains.empty())
    worker.unusable = "only " + std::to_string(found.n) + " pairs" + at(pairs.context) + " can be used";
  else if (found.discarded > kDiscardedShareMax * (found.n + found.discarded))
    worker.unusable = "disturbed: " + std::to_string(found.discarded) + " of " +
                      std::to_string(found.n + found.discarded) + " pairs" + at(pairs.context) +
                      " have a sample far above its neighbours";
  else
    see_company(worker, slower_beside(grade.times, pairs.context, nominal, strict));
  worker.contexts.push_back(found);
}

}  // namespace

WorkerGain gain_of(const sandbox::Grade& grade) {
  WorkerGain worker;
  for (const sandbox::PairedTimes& pairs : grade.pairs) add_context(worker, grade, pairs);
  if (worker.contexts.empty() && worker.unusable.empty()) worker.unusable = "it gave no paired times";
  if (!worker.unusable.empty()) return worker;
  double squares = 0;
  for (const ContextGain& context : worker.contexts) {
    worker.gain += context.gain / static_cast<double>(worker.contexts.size());
    squares += context.error * context.error;
  }
  worker.error = std::sqrt(squares) / static_cast<double>(worker.contexts.size());
  return worker;
}

}  // namespace onelaunch::agent
