#pragma once
// The careful way to memory, lane by lane: every space, every check, every report. The fast ways (load_store.cpp) fall
// back on it whenever anything is unusual.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/warp.h"
#include "sandbox/emulator/memory/form.h"

namespace onelaunch::emu {

enum class Access : std::uint8_t { read, write };

// Where one lane's bytes are. Local memory interleaves the lanes' words, so its words lie `word_stride` apart.
struct Place {
  std::byte* data = nullptr;   // null: the access was wrong and has been reported
  unsigned word_stride = 4;
  MemorySpace space = MemorySpace::global;
  Allocation* allocation = nullptr;  // of global memory
  Block* home = nullptr;             // of shared memory: whose it is
};

std::uint64_t lane_address(const Warp& warp, const DecodedOp& op, AccessForm form, unsigned lane);
Place place_of(Warp& warp, const DecodedOp& op, MemorySpace space, std::uint64_t address, unsigned bytes, unsigned lane,
               Access access);
// The same for a run of bytes whose size says nothing of its alignment.
Place place_of_run(Warp& warp, const DecodedOp& op, MemorySpace space, std::uint64_t address, unsigned bytes,
                   unsigned alignment, unsigned lane, Access access);
void copy_in(const Place& from, void* to, unsigned bytes);
void copy_out(const Place& to, const void* from, unsigned bytes);

// Whole operations for any form and mask.
void load_carefully(Warp& warp, const DecodedOp& op, std::uint32_t mask);
void store_carefully(Warp& warp, const DecodedOp& op, std::uint32_t mask);
void poll_load(Warp& warp, const DecodedOp& op, std::uint32_t mask);

// Sets the bounds an operation remembers to the allocation around `address`; null and empty when there is none.
void refill(Grid& grid, OpCache& cache, std::uint64_t address, Access access);

// Model: global bytes moved. Returns how many sectors came from DRAM.
unsigned touch(Warp& warp, Allocation& allocation, std::uint64_t address, unsigned bytes, Access access);
unsigned shared_wavefronts(const std::uint32_t* offsets, std::uint32_t mask, unsigned bytes);

// A store happened: splits that poll these bytes wake.
void note_written(Warp& warp, std::uint64_t address, unsigned bytes);
inline void note_effect(Warp& warp) {
  ++warp.effects;
  warp.waited_since_effect = false;
}
// Phases: what others may wait for, and what this warp saw of it.
void stamp_store(Warp& warp, const DecodedOp& op, std::uint64_t address, unsigned lane);
void stamp_atomic(Warp& warp, const DecodedOp& op, std::uint64_t address, unsigned lane);
void join_stamp(Warp& warp, std::uint64_t address);

// Calls visit(lane) for every lane of the mask, ascending.
template <class Visit>
void each_lane(std::uint32_t mask, Visit visit) {
  for (; mask; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace onelaunch::emu
