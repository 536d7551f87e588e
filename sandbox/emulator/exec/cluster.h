#pragma once
// Blocks that run together and reach each other's shared memory. Without clusters every block is one of its own.

#include <cstdint>
#include <vector>

#include "sandbox/emulator/exec/splits.h"

namespace onelaunch::emu {

constexpr unsigned kClusterBlocksMax = 16;

struct Cluster {
  std::uint32_t first = 0;               // number of the block of rank 0
  std::vector<Block*> blocks;            // by rank
  std::uint32_t live = 0;                // threads
  std::uint32_t arrived = 0;             // of those, at the barrier
  std::uint32_t generation = 0;
  std::vector<Split*> waiting;
};

// The block whose shared memory this 32-bit address names: rank field 0 is the own one, else rank + 1. Null: none.
Block* shared_home(Block& own, std::uint32_t address);
std::uint32_t rank_in_cluster(const Block& block);

// DecodedOp::extra of Control::cluster_barrier.
struct ClusterBarrierForm {
  bool waits = false, aligned = false, relaxed = false;
  std::uint32_t pack() const { return std::uint32_t{waits} | std::uint32_t{aligned} << 1 | std::uint32_t{relaxed} << 2; }
  static ClusterBarrierForm unpack(std::uint32_t bits) { return {(bits & 1) != 0, (bits >> 1 & 1) != 0, (bits >> 2 & 1) != 0}; }
};

// True: the split goes on; false: it waits, or its wait is over and it is among `ready`.
bool run_cluster_barrier(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready);
// Lanes ended: they count as arrived from now on.
void leave_cluster(WarpRun& run, std::uint32_t lanes, std::vector<Split*>& ready);

}  // namespace onelaunch::emu
