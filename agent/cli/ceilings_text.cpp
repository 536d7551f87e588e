#include "agent/cli/ceilings_text.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "agent/cli/terminal.h"

namespace onelaunch::cli {
namespace {

using sandbox::Ceilings;
using sandbox::StreamRate;

constexpr std::size_t kColumn = 14;

std::string right(const std::string& text, std::size_t width = kColumn) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : " " + text;
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

std::string size_text(std::uint64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  if (mib >= 1024) return format_number("%.3g GiB", mib / 1024);
  return mib >= 1 ? format_number("%.3g MiB", mib) : std::to_string(bytes >> 10) + " KiB";
}

std::string footprint_text(const StreamRate& rate) { return size_text(rate.footprint_bytes) + (rate.resident ? " in L2" : ""); }

std::vector<std::string> each_once(const std::vector<StreamRate>& rates, std::string (*text)(const StreamRate&)) {
  std::vector<std::string> found;
  for (const StreamRate& rate : rates)
    if (std::string name = text(rate); std::ranges::find(found, name) == found.end()) found.push_back(std::move(name));
  return found;
}

// Methods down, footprints across.
std::string rates_text(const std::vector<StreamRate>& rates) {
  const auto name_of = +[](const StreamRate& rate) { return rate.name; };
  const std::vector<std::string> methods = each_once(rates, name_of), footprints = each_once(rates, footprint_text);
  std::size_t width = 0;
  for (const std::string& method : methods) width = std::max(width, method.size());
  std::string text = left("reads, TB/s (10^12 bytes), by what one launch reads", width + 2) + "\n" + left("", width + 2);
  for (const std::string& footprint : footprints) text += right(footprint);
  text += "\n";
  for (const std::string& method : methods) {
    text += "  " + left(method, width);
    std::string skipped;
    for (const StreamRate& rate : rates)
      if (rate.name == method) {
        text += right(rate.skipped.empty() ? format_number("%.3f", rate.tb_s) : "-");
        if (!rate.skipped.empty()) skipped = rate.skipped;
      }
    text += (skipped.empty() ? "" : "  skipped: " + first_line(skipped)) + "\n";
  }
  return text;
}

std::string barriers_text(const Ceilings& ceilings) {
  std::string text = "grid barrier, cooperative grid\n";
  for (const sandbox::BarrierTime& barrier : ceilings.barriers)
    text += "  " + std::to_string(barrier.blocks_per_sm) + (barrier.blocks_per_sm == 1 ? " block  per SM " : " blocks per SM ") +
            (barrier.skipped.empty() ? format_number("%9.3f us", barrier.us) : "skipped: " + first_line(barrier.skipped)) + "\n";
  return text;
}

std::string clocks_text(const sandbox::SeenClocks& clocks) {
  if (clocks.sm_mhz_high == 0) return "clocks not known\n";
  std::ostringstream text;
  text << "clocks  SM " << clocks.sm_mhz_low << " to " << clocks.sm_mhz_high << " MHz, memory " << clocks.memory_mhz
       << " MHz, at most " << clocks.power_w_high << " W and " << clocks.temperature_c_high << " C, throttle reasons 0x"
       << std::hex << clocks.throttle_reasons << "\n";
  return text.str();
}

std::string measured_text(const Ceilings& ceilings) {
  std::string text = ceilings.device + " " + ceilings.uuid + ", driver " + ceilings.driver_version + ", " + ceilings.target +
                     "\nmeasured " + ceilings.measured_at + ", medians of " + std::to_string(ceilings.samples) + " chains\n\n";
  text += rates_text(ceilings.methods) + "\n" + barriers_text(ceilings);
  text += "\nempty cooperative launch, 1 block per SM, back to back\n" +
          format_number("  device          %9.3f us\n", ceilings.launch_us) +
          format_number("  host to enqueue %9.3f us\n", ceilings.enqueue_us) + "\n";
  return text + clocks_text(ceilings.clocks);
}

}  // namespace

std::string ceilings_text(const Ceilings& ceilings) {
  std::string text = ceilings.modelled ? ceilings.device + ", " + ceilings.target +
                                             "\nmodelled: these are the numbers of the emulator's profile, nothing was measured\n"
                                       : measured_text(ceilings) + "\n";
  const std::string kind = ceilings.modelled ? " (modelled)" : "";
  text += format_number("stream from memory  %8.3f TB/s", ceilings.stream_tb_s) + kind + (ceilings.modelled ? "\n" : ", the best of the above\n");
  text += format_number("grid barrier        %8.3f us", ceilings.grid_barrier_us) + kind + "\n";
  text += format_number("launch              %8.3f us", ceilings.launch_us) + kind + "\n";
  return text;
}

}  // namespace onelaunch::cli
