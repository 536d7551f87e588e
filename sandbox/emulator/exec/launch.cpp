#include "sandbox/emulator/exec/launch.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "sandbox/emulator/check/checker.h"
#include "sandbox/emulator/exec/scheduler.h"
#include "sandbox/emulator/model/estimate.h"
#include "sandbox/emulator/model/rounds.h"

namespace onelaunch::emu {
namespace {

constexpr std::size_t kRowAlignment = 64;

void fill_report(LaunchReport& report, Grid& grid, const Scheduler& scheduler, const DeviceProfile& profile, int resident) {
  report.faults = grid.faults.take();
  report.printed = std::move(grid.printed);
  report.printed_truncated = grid.printed_truncated;
  std::vector<const BlockPhases*> phases;
  for (const auto& block : scheduler.blocks()) phases.push_back(&block->phases);
  report.phases = estimate_phases(profile, phases, resident);
  report.total = estimate_total(profile, report.phases);
}

}  // namespace

LoadedEntry make_entry(std::shared_ptr<const Program> program) {
  LoadedEntry entry;
  entry.program = std::move(program);
  entry.constants_storage.resize(entry.program->constants.size() + kRowAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(entry.constants_storage.data());
  std::byte* const start = entry.constants_storage.data() + (kRowAlignment - address % kRowAlignment) % kRowAlignment;
  if (!entry.program->constants.empty()) std::memcpy(start, entry.program->constants.data(), entry.program->constants.size());
  entry.constants = start;
  entry.first_of_rounds = first_of_rounds(*entry.program);
  return entry;
}

LaunchReport run_launch(const LoadedEntry& entry, Memory& memory, const DeviceProfile& profile, const LaunchShape& shape,
                        int resident, std::span<const std::byte> params, std::uint64_t workspace,
                        const LaunchOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  memory.forget_use();
  // Detectors take the place of operations in a copy of the program.
  std::unique_ptr<Program> checked;
  std::vector<OpFacts> facts;
  if (options.checks.any()) {
    facts = Checker::facts_of_all(*entry.program);
    checked = std::make_unique<Program>(*entry.program);
    Checker::replace(*checked, facts);
  }
  Grid grid(checked ? *checked : *entry.program, memory, options.errors_max);
  grid.shape = shape;
  grid.params = params;
  grid.constants = entry.constants;
  grid.workspace = workspace;
  grid.sms = profile.sms;
  grid.l1_bytes = profile.l1_bytes;
  grid.schedule_seed = grid.random_state = options.schedule_seed;
  grid.flights.later = options.schedule_seed != 0;
  grid.l2 = L2Clock(profile.l2_bytes);
  grid.chain = chain_costs(profile);
  grid.profile = &profile;
  grid.resident = resident;
  for (std::size_t pc = 0; pc < grid.caches.size(); ++pc) grid.caches[pc].rounds = entry.first_of_rounds[pc];
  std::optional<Checker> checker;
  if (checked) grid.checker = &checker.emplace(grid, options.checks, std::move(facts), entry.program->ops);
  Scheduler scheduler(grid, options);
  scheduler.run(shape.grid, static_cast<std::uint32_t>(resident));
  LaunchReport report;
  fill_report(report, grid, scheduler, profile, resident);
  report.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return report;
}

}  // namespace onelaunch::emu
