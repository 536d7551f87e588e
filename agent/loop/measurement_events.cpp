#include "agent/loop/measurement_events.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "agent/loop/statistics.h"
#include "sandbox/host/measure.h"

namespace onelaunch::agent {
namespace {

constexpr double kInterval95 = 1.96;  // standard errors

void put_clocks(traces::Measurement& event, const sandbox::DeviceTimes& device) {
  if (device.launches > 0) event.launches = static_cast<int>(std::lround(device.launches));
  if (device.sm_mhz_high > 0) {
    event.sm_clock_mhz = device.sm_mhz_low;
    event.sm_clock_mhz_high = device.sm_mhz_high;
  }
  if (device.memory_mhz > 0) event.memory_clock_mhz = device.memory_mhz;
  if (device.power_w_high > 0) event.power_w = device.power_w_high;
  if (device.temperature_c_high > 0) event.temperature_c = device.temperature_c_high;
  event.throttle = throttle_names(device.throttle_reasons);
}

std::optional<double> known(double us) {
  return std::isfinite(us) && us > 0 ? std::optional<double>(us) : std::nullopt;
}

void put_timings(traces::Measurement& event, const sandbox::DeviceTimes& device) {
  // Where strict inputs take too long they are the score.
  const bool is_score = device.strict_over_nominal > sandbox::kStrictOverNominalMax;
  event.strict_us = known(event.us_median * (is_score ? 1 : device.strict_over_nominal));
  event.token_loop_us = known(device.token_loop_us);
  event.wall_us = known(device.wall_us);
  event.enqueue_us = known(device.enqueue_us);
  event.cold_l2_us = known(device.cold_us);
}

}  // namespace

traces::Measurement primary_event(const std::string& id, const sandbox::Measurement& time) {
  traces::Measurement event;
  event.candidate = id;
  event.kind = time.modelled ? "modelled" : "measured";
  event.context = time.context;
  event.us_median = time.us_median;
  event.us_low = time.us_low;
  event.us_high = time.us_high;
  event.n = time.n;
  event.raw = time.raw_us;
  if (time.barriers > 0) event.barriers = static_cast<int>(time.barriers);
  for (const sandbox::PhaseTime& phase : time.phases)
    event.phases.push_back({.name = phase.name,
                            .bound = phase.bound,
                            .us = phase.us,
                            .dram_mb = phase.dram_mb,
                            .warp_instructions = phase.warp_instructions});
  if (time.device) put_clocks(event, *time.device), put_timings(event, *time.device);
  return event;
}

traces::Measurement paired_event(const std::string& id, const std::string& against, int worker,
                                 const sandbox::PairedTimes& pairs, const WorkerGain& gain) {
  traces::Measurement event;
  event.candidate = id;
  event.kind = "measured";
  event.timing = "paired";
  event.context = pairs.context;
  event.us_median = median_of(pairs.candidate_us);
  const double spread = kInterval95 * error_of_median(pairs.candidate_us);
  event.us_low = std::max(0.0, event.us_median - spread);
  event.us_high = event.us_median + spread;
  event.raw = pairs.candidate_us;
  event.raw_against = pairs.against_us;
  event.worker = worker;
  event.against = against;
  for (const ContextGain& context : gain.contexts)
    if (context.context == pairs.context) event.n = context.n, event.discarded = context.discarded;
  return event;
}

std::string throttle_names(std::uint64_t reasons) {
  const std::pair<std::uint64_t, const char*> names[] = {
      {0x2, "application_clocks"}, {0x4, "sw_power_cap"}, {0x8, "hw_slowdown"},     {0x10, "sync_boost"},
      {0x20, "sw_thermal"},        {0x40, "hw_thermal"},  {0x80, "hw_power_brake"}, {0x100, "display_clocks"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if ((reasons & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace onelaunch::agent
