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

}  // namespace onelaunch::emu
