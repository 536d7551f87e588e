#pragma once
// Barriers that live in shared memory (mbarrier). A phase is complete when no arrival is pending and no byte is owed.
//
// The state is kept beside the memory; the barrier's own 8 bytes hold a mark, so that a store over them is noticed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace onelaunch::emu {

struct Block;
struct Grid;
struct Warp;

constexpr std::uint32_t kArrivalsMax = (1u << 20) - 1;
constexpr std::int64_t kOwedBytesMax = (1 << 20) - 1;
constexpr unsigned kMbarrierBytes = 8;

struct Mbarrier {
  struct Waiter {
    const Warp* warp;
    std::uint64_t phase;            // that it found incomplete when it last looked
  };
  std::uint32_t expected = 0;       // arrivals of the next phase
  std::uint32_t pending = 0;        // arrivals that the current phase lacks
  std::int64_t owed = 0;            // bytes that the current phase lacks; below zero: landed before they were expected
  std::uint64_t phase = 0;          // number of the current phase
  double ready_cycles = 0;          // model: when the last completed phase was complete, in the block's cycles
  double latest_cycles = 0;         // model: of the arrivals and bytes of the current phase so far
  std::vector<Waiter> waiters;
};

std::uint64_t mbarrier_mark(const Mbarrier& barrier);

// Arrivals and bytes. Empty when all is well, else what is wrong.
std::string expect_bytes(Mbarrier& barrier, std::int64_t bytes);
std::string arrive(Grid& grid, Block& home, std::uint32_t offset, Mbarrier& barrier, std::uint32_t count);
std::string complete_bytes(Grid& grid, Block& home, std::uint32_t offset, Mbarrier& barrier, std::int64_t bytes);

// "mbarrier at shared byte 64 of block 3: phase 2 (parity 0) lacks 1 of 4 arrivals and 4096 bytes"
std::string describe_mbarrier(const Block& home, std::uint32_t offset);

}  // namespace onelaunch::emu
