#pragma once
// One thread block while it runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sandbox/emulator/model/counters.h"

namespace onelaunch::emu {

struct Grid;
struct Warp;
struct Split;
struct WarpRun;  // exec/splits.h: a warp and its splits

constexpr unsigned kNamedBarriers = 16;
constexpr unsigned kClusterBarrier = kNamedBarriers;  // a cluster of one block is a further barrier of it

struct BlockBarrier {
  std::uint32_t expected = 0;            // threads; 0: all threads that still run
  std::uint32_t arrived = 0;             // threads
  std::uint64_t generation = 0;
  std::vector<Split*> waiting;
  std::vector<const WarpRun*> arrivals;  // of this generation, to find a warp that arrives twice
  bool all = true, any = false;          // of the predicates of bar.red
  std::uint32_t count = 0;
};

struct Block {
  Grid* grid = nullptr;
  std::uint32_t index = 0;               // %ctaid.x
  std::uint32_t threads = 0;
  std::uint32_t live_threads = 0;
  std::uint32_t live_warps = 0;
  std::uint32_t shared_end = 0;          // shared offsets in [kSharedStart, shared_end) exist
  std::byte* shared = nullptr;           // address of shared offset 0 (which itself does not exist)
  std::uint64_t instructions = 0;        // %clock64 counts these
  BlockBarrier barriers[kNamedBarriers + 1];
  std::vector<std::unique_ptr<WarpRun>> warps;
  BlockPhases phases;
  L1Lines l1;
  std::vector<std::byte> shared_storage;

  Block();
  ~Block();
  // Counters of a phase, made when first asked for.
  BlockPhase& phase(std::uint32_t number) {
    while (phases.size() <= number) phases.emplace_back();
    return phases[number];
  }
};

// Moves a warp's work to a later phase.
void enter_phase(Warp& warp, std::uint32_t phase);

}  // namespace onelaunch::emu
