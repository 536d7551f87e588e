#include "sandbox/emulator/exec/block.h"

#include <algorithm>

#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/splits.h"

namespace onelaunch::emu {

Block::Block() = default;
Block::~Block() = default;

void enter_phase(Warp& warp, std::uint32_t phase) {
  if (phase <= warp.phase || phase >= kPhasesMax) return;
  warp.work->loose_chain_cycles = std::max(warp.work->loose_chain_cycles, warp.chain_cycles);
  warp.chain_cycles = 0;
  warp.phase = phase;
  warp.work = &warp.block->phase(phase);
}


void close_chains(std::span<Block* const> blocks, double barrier_cycles) {
  double longest = 0;
  std::uint32_t phase = 0;
  for (const Block* block : blocks)
    for (const std::unique_ptr<WarpRun>& run : block->warps) {
      longest = std::max(longest, run->warp.chain_cycles);
      phase = std::max(phase, run->warp.phase);
    }
  for (Block* block : blocks) {
    block->phase(phase).chain_cycles += longest + barrier_cycles;
    block->cycles_before += longest + barrier_cycles;
    for (const std::unique_ptr<WarpRun>& run : block->warps) {
      run->warp.chain_cycles = 0;
      if (run->warp.live && run->warp.phase < phase) enter_phase(run->warp, phase);
      run->warp.gathered = false;
    }
  }
}

}  // namespace onelaunch::emu
