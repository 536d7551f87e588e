#pragma once
// One thread block while it runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sandbox/emulator/async/mbarrier.h"
#include "sandbox/emulator/model/counters.h"

namespace onelaunch::emu {

struct Cluster;    // exec/cluster.h
struct Grid;
struct Warp;
struct Split;
struct WarpRun;  // exec/splits.h: a warp and its splits

constexpr unsigned kNamedBarriers = 16;

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
  BlockBarrier barriers[kNamedBarriers];
  Cluster* cluster = nullptr;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers;  // by shared offset
  double cycles_before = 0;              // model: summed chains up to the last block barrier
  std::vector<std::unique_ptr<WarpRun>> warps;
  BlockPhases phases;
  double clock_us = 0;                   // the last that its modelled clock showed
  L1Lines l1;
  std::vector<std::byte> shared_storage;

  Block();
  ~Block();
  bool has_shared() const { return !shared_storage.empty(); }  // until it ends
  // Counters of a phase, made when first asked for.
  BlockPhase& phase(std::uint32_t number) {
    while (phases.size() <= number) phases.emplace_back();
    return phases[number];
  }
};

// Moves a warp's work to a later phase.
void enter_phase(Warp& warp, std::uint32_t phase);

// All warps of the blocks go on from the slowest one: its dependent chain, and a barrier on top, is what the phase took
// so far.
void close_chains(std::span<Block* const> blocks, double barrier_cycles);

}  // namespace onelaunch::emu
