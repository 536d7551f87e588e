#include "sandbox/host/measure.h"

#include <algorithm>
#include <cmath>

namespace onelaunch::sandbox {

double score_us(const std::vector<Measurement>& times) {
  if (times.empty()) return 0;
  double logs = 0;
  for (const Measurement& time : times) logs += std::log(time.us_median);
  return std::exp(logs / static_cast<double>(times.size()));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Measurement measurement_of(std::int64_t context, const std::vector<std::vector<LaunchResult>>& steps) {
  Measurement time;
  time.context = context;
  for (const std::vector<LaunchResult>& step : steps) {
    double us = 0;
    for (const LaunchResult& launch : step) us += launch.total.us, time.host_seconds += launch.host_seconds;
    time.raw_us.push_back(us);
  }
  time.n = static_cast<int>(time.raw_us.size());
  if (steps.empty()) return time;
  time.host_seconds /= time.n;
  time.us_median = time.raw_us.back();
  time.us_low = *std::ranges::min_element(time.raw_us);
  time.us_high = *std::ranges::max_element(time.raw_us);
  for (const LaunchResult& launch : steps.back()) {
    for (const LaunchPhase& phase : launch.phases)
      time.phases.push_back({"phase " + std::to_string(time.phases.size() + 1), phase.bound, phase.us,
                             static_cast<double>(phase.dram_bytes) / 1e6, phase.warp_instructions});
    time.warp_instructions += launch.total.warp_instructions;
    time.dram_mb += static_cast<double>(launch.total.dram_bytes) / 1e6;
    time.barriers += launch.phases.empty() ? 0 : launch.phases.size() - 1;
  }
  return time;
}

void apply_strict(std::vector<Measurement>& nominal, const Measurement& strict) {
  for (Measurement& time : nominal) {
    if (time.context != strict.context || strict.us_median <= kStrictOverNominalMax * time.us_median) continue;
    time.us_median = strict.us_median;
    time.us_high = std::max(time.us_high, strict.us_median);
    time.raw_us.push_back(strict.us_median);
    time.n = static_cast<int>(time.raw_us.size());
  }
}

}  // namespace onelaunch::sandbox
