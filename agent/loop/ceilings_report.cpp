#include "agent/loop/ceilings_report.h"

#include <cstdio>

#include "sandbox/host/ceilings.h"
#include "tasks/floor.h"

namespace onelaunch::agent {
namespace {

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string rates_text(const sandbox::Ceilings& ceilings) {
  std::string text = "streams, TB/s, as measured " + ceilings.measured_at + " (what one launch reads, its own time included):\n";
  for (const sandbox::StreamRate& rate : ceilings.methods) {
    text += "  " + rate.name + ", " + number("%.0f MB", static_cast<double>(rate.footprint_bytes) / 1e6) +
            (rate.resident ? " in L2: " : ": ");
    text += rate.skipped.empty() ? number("%.3f", rate.tb_s) : "skipped (" + rate.skipped + ")";
    text += "\n";
  }
  for (const sandbox::BarrierTime& barrier : ceilings.barriers)
    text += "grid barrier, " + std::to_string(barrier.blocks_per_sm) + " blocks an SM: " +
            (barrier.skipped.empty() ? number("%.3f us", barrier.us) : "skipped (" + barrier.skipped + ")") + "\n";
  if (ceilings.clocks.sm_mhz_high > 0)
    text += "clocks: SM " + std::to_string(ceilings.clocks.sm_mhz_low) + " to " + std::to_string(ceilings.clocks.sm_mhz_high) +
            " MHz, memory " + std::to_string(ceilings.clocks.memory_mhz) + " MHz\n";
  return text;
}

}  // namespace

std::string ceilings_report(const tasks::Task& task, const sandbox::DeviceInfo& device, const std::filesystem::path& cache,
                            const std::string& now_utc) {
  const bool modelled = device.kind == "emu";
  std::string text = device.name + ", " + device.target + ", " + std::to_string(device.sms) + " SMs; " +
                     (modelled ? "modelled: the numbers of the emulator's profile" : "measured on this card") + "\n";
  text += "best stream from memory: " + number("%.3f TB/s", device.stream_tb_s) + "\ncheapest grid barrier: " +
          number("%.3f us", device.grid_barrier_us) + "\nempty launch, back to back: " + number("%.3f us", device.launch_us) + "\n";
  for (const tasks::SweepPoint& point : task.sweep) {
    const double bytes = tasks::token_cost(task, point.context).bytes();
    text += "floor at context " + std::to_string(point.context) + ": " + number("%.3f MB a token", bytes / 1e6);
    if (device.stream_tb_s > 0) text += number(", %.3f us at that stream", bytes / (device.stream_tb_s * 1e6));
    text += "\n";
  }
  if (modelled) return text;
  const auto kept = sandbox::CeilingStore(cache).find(device.uuid, device.driver_version, now_utc);
  return kept && !kept->methods.empty() ? text + rates_text(*kept) : text;
}

}  // namespace onelaunch::agent
