#include "sandbox/emulator/exec/clock.h"

#include <algorithm>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/model/estimate.h"

namespace onelaunch::emu {
namespace {

// What ends a phase has happened by the time that a warp is in the next one.
double phase_us(const Grid& grid, std::uint32_t phase) {
  std::vector<const BlockPhases*> all;
  double slowest = 0;
  for (const std::unique_ptr<Block>& block : *grid.blocks) {
    all.push_back(&block->phases);
    if (phase < block->phases.size())
      slowest = std::max(slowest, block_work_us(*grid.profile, block->phases[phase], grid.blocks->size(), grid.resident));
  }
  return std::max(slowest, phase_work_us(*grid.profile, all, phase, grid.resident));
}

double phase_start_us(Grid& grid, std::uint32_t phase) {
  std::vector<double>& starts = grid.phase_starts_us;
  if (starts.empty()) starts.push_back(0);
  while (starts.size() <= phase)
    starts.push_back(starts.back() + phase_us(grid, static_cast<std::uint32_t>(starts.size() - 1)) + phase_wait_us(*grid.profile));
  return starts[phase];
}

}  // namespace

std::uint64_t modelled_ns(const Warp& warp) {
  Grid& grid = *warp.grid;
  if (grid.profile == nullptr || grid.blocks == nullptr) return grid.skipped_ns;
  BlockPhase work = *warp.work;
  work.loose_chain_cycles = std::max(work.loose_chain_cycles, warp.chain_cycles);
  const double within = block_work_us(*grid.profile, work, grid.blocks->size(), grid.resident);
  double& shown = warp.block->clock_us;
  shown = std::max(shown, phase_start_us(grid, warp.phase) + within);
  return static_cast<std::uint64_t>(shown * 1e3) + grid.skipped_ns;
}

}  // namespace onelaunch::emu
