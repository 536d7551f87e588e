#include "agent/loop/profile_report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <vector>

namespace onelaunch::agent {
namespace {

using sandbox::KernelProfile;
using sandbox::ProfiledPhase;
using sandbox::SassReport;

constexpr std::size_t kClassesShown = 16, kLoopClassesShown = 10, kProbesShown = 12;

[[gnu::format(printf, 1, 2)]] std::string line(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string head(const KernelProfile& p) {
  std::string text = line("context   %lld, %d %s of the build with marks, %s\n", static_cast<long long>(p.context), p.launches,
                          p.launches == 1 ? "launch" : "launches", p.modelled ? "modelled" : "measured");
  text += line("token     %.2f us from the first stamp to the last; the launch %.2f us", p.token_us, p.launch_us.median);
  if (p.unmarked_us.median > 0) text += line(" (%.2f us without marks)", p.unmarked_us.median);
  if (p.floor_us > 0) text += line("; floor %.2f us (%.2f MB)", p.floor_us, p.floor_mb);
  return text + "\n";
}

std::string numbers(const std::vector<int>& blocks) {
  std::string text;
  for (const int block : blocks) text += (text.empty() ? "" : " ") + std::to_string(block);
  return text;
}

std::string phase_line(const ProfiledPhase& phase, std::size_t width, const KernelProfile& p) {
  std::string text = line("  %-*s %3d x %4d  %8.2f %8.2f %8.2f  %8.2f  %5.1f %%  %8.2f", static_cast<int>(width), phase.name.c_str(), phase.passes,
                          phase.blocks, phase.us.low, phase.us.median, phase.us.high, phase.wait_us.median, 100 * phase.share, phase.critical_us);
  if (phase.floor_mb && p.floor_mb > 0 && p.floor_us > 0) text += line("  floor %.2f us (%.2f MB)", *phase.floor_mb * p.floor_us / p.floor_mb, *phase.floor_mb);
  if (phase.dram_mb) text += line("  %.2f MB moved", *phase.dram_mb);
  if (!phase.stragglers.empty()) text += "  slow: " + numbers(phase.stragglers);
  return text + "\n";
}

std::string phases(const KernelProfile& p) {
  std::size_t width = 5;
  for (const ProfiledPhase& phase : p.phases) width = std::max(width, phase.name.size());
  std::string text = line("phases    us a token over blocks; wait: for other blocks; critical: of the slowest block\n  %-*s passes x blocks  "
                          "  min   median      max    wait    share  critical\n",
                          static_cast<int>(width), "");
  for (const ProfiledPhase& phase : p.phases) text += phase_line(phase, width, p);
  if (p.phases.empty()) return text;
  if (p.barriers > 0)
    text += line("critical  %.2f us of work, and %.2f us from the last arrival at %d waits to the release; blocks wait %.2f us (%.2f to %.2f)\n",
                 p.critical_us, p.barrier_us, p.barriers, p.wait_us.median, p.wait_us.low, p.wait_us.high);
  else if (p.phases.front().blocks > 0)
    text += line("critical  %.2f us: the slowest block, since no waits are stamped that all blocks have in common\n", p.critical_us);
  return text;
}

std::string modelled(const KernelProfile& p) {
  if (p.modelled_phases.empty()) return "";
  std::string text = "emulator  between waits of the whole grid, as it counts them\n";
  for (std::size_t i = 0; i < p.modelled_phases.size(); ++i) {
    const sandbox::ModelledPhase& phase = p.modelled_phases[i];
    text += line("  %2zu  %8.2f us  %9.3f MB  bound by %-10s %s\n", i + 1, phase.us, phase.dram_mb, phase.bound.c_str(), phase.within.c_str());
  }
  return text;
}

std::string counts(const std::map<std::string, std::uint64_t>& classes, std::size_t most) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, count] : classes) sorted.emplace_back(count, name);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) text += (i ? " " : "") + sorted[i].second + " " + std::to_string(sorted[i].first);
  if (sorted.size() > most) text += line(" and %zu more kinds", sorted.size() - most);
  return text;
}

std::string resources(const KernelProfile& p) {
  const sandbox::KernelResources& r = p.resources;
  std::string text = line("resources %d registers, %llu spill bytes, %llu local bytes, %llu + %llu bytes of shared memory\n", r.registers,
                          static_cast<unsigned long long>(r.spill_bytes), static_cast<unsigned long long>(r.local_bytes),
                          static_cast<unsigned long long>(r.static_smem_bytes), static_cast<unsigned long long>(r.dynamic_smem_bytes));
  return text + line("          %llu blocks of %llu threads; %llu a multiprocessor would fit, limited by %s; occupancy %.0f %%\n",
                     static_cast<unsigned long long>(r.grid), static_cast<unsigned long long>(r.block), static_cast<unsigned long long>(r.blocks_per_sm),
                     r.bound.c_str(), 100 * r.occupancy);
}

std::string machine_code(const SassReport& sass) {
  if (!sass.problem.empty()) return "code      no report: " + sass.problem + "\n";
  if (sass.tool.empty()) return "";
  std::string text = line("code      %llu instructions (%s): ", static_cast<unsigned long long>(sass.instructions), sass.tool.c_str()) +
                     counts(sass.classes, kClassesShown) + "\n          by pipe: " + counts(sass.pipes, kClassesShown) + "\n";
  for (const SassReport::Loop& loop : sass.loops)
    text += line("  loop %s, depth %d, %llu instructions of its own: ", loop.place.c_str(), loop.depth, static_cast<unsigned long long>(loop.instructions)) +
            counts(loop.classes, kLoopClassesShown) + "; by pipe: " + counts(loop.pipes, kLoopClassesShown) + "\n";
  return text;
}

std::string probe_line(const sandbox::ProbeResult& probe) {
  std::string text = line("  %s %s: %llu of %llu elements, relative error %.2g", probe.ok ? "ok   " : "WRONG", probe.name.c_str(),
                          static_cast<unsigned long long>(probe.copied), static_cast<unsigned long long>(probe.elements), probe.rel_l2);
  return text + (probe.detail.empty() ? "" : "; " + probe.detail) + "\n";
}

std::string probes(const KernelProfile& p) {
  if (p.probes.empty()) return "";
  const auto wrong = std::ranges::count_if(p.probes, [](const auto& probe) { return !probe.ok; });
  std::string text = line("probes    %zu compared with the oracle, %zu wrong\n", p.probes.size(), static_cast<std::size_t>(wrong));
  std::size_t shown = 0;
  for (const bool ok : {false, true})
    for (const sandbox::ProbeResult& probe : p.probes)
      if (probe.ok == ok && (!ok || shown < kProbesShown)) text += probe_line(probe), ++shown;
  if (shown < p.probes.size()) text += line("  and %zu more that are right\n", p.probes.size() - shown);
  return text;
}

}  // namespace

std::string profile_text(const KernelProfile& p) {
  if (!std::holds_alternative<sandbox::Passed>(p.outcome) && p.phases.empty())
    return "no profile " + sandbox::explain(p.outcome) + "\n";
  std::string text = head(p);
  if (!p.wrong.empty()) text += "WRONG     its results are wrong, so its times mean little: " + p.wrong + "\n";
  text += phases(p) + modelled(p) + probes(p) + resources(p) + machine_code(p.sass);
  for (const std::string& note : p.notes) text += "note      " + note + "\n";
  if (!std::holds_alternative<sandbox::Passed>(p.outcome))
    text += "rejected  " + sandbox::explain(p.outcome) + "\n";
  return text;
}

traces::Profile profile_event(const std::string& candidate, const KernelProfile& p) {
  traces::Profile event;
  event.candidate = candidate;
  event.context = p.context;
  event.kind = p.modelled ? "modelled" : "measured";
  event.token_us = p.token_us, event.critical_us = p.critical_us, event.launch_us = p.launch_us.median;
  if (p.unmarked_us.median > 0) event.unmarked_us = p.unmarked_us.median;
  for (const ProfiledPhase& phase : p.phases) {
    traces::Phase& said = event.phases.emplace_back();
    said.name = phase.name;
    said.us = phase.us.median, said.us_low = phase.us.low, said.us_high = phase.us.high;
    said.wait_us = phase.wait_us.median, said.critical_us = phase.critical_us;
    said.dram_mb = phase.dram_mb.value_or(0), said.floor_mb = phase.floor_mb;
    said.passes = phase.passes, said.blocks = phase.blocks;
  }
  return event;
}

}  // namespace onelaunch::agent
