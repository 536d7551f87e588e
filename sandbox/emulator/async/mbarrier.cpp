#include "sandbox/emulator/async/mbarrier.h"

#include <algorithm>
#include <cstring>

#include "sandbox/emulator/check/checker.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"

namespace onelaunch::emu {
namespace {

constexpr std::uint64_t kMark = 0x6d62'6172'5eed'0000ull;

void complete_if_due(Grid& grid, Block& home, std::uint32_t offset, Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.owed != 0) return;
  if (grid.checker) grid.checker->phase_ended(home, offset, barrier.phase);
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.ready_cycles = barrier.latest_cycles;
  barrier.latest_cycles = 0;
  const std::uint64_t mark = mbarrier_mark(barrier);
  std::memcpy(home.shared + offset, &mark, sizeof mark);
  grid.watches.barrier_completed(reinterpret_cast<std::uint64_t>(home.shared + offset));
}

}  // namespace

std::uint64_t mbarrier_mark(const Mbarrier& barrier) { return kMark ^ barrier.phase; }

std::string expect_bytes(Mbarrier& barrier, std::int64_t bytes) {
  barrier.owed += bytes;
  if (barrier.owed <= kOwedBytesMax) return {};
  return "the barrier would owe " + std::to_string(barrier.owed) + " bytes: at most " + std::to_string(kOwedBytesMax) + " are allowed";
}

std::string arrive(Grid& grid, Block& home, std::uint32_t offset, Mbarrier& barrier, std::uint32_t count) {
  if (count == 0 || count > barrier.pending) {
    return std::to_string(count) + " arrivals, but phase " + std::to_string(barrier.phase) + " of the barrier waits for only " +
           std::to_string(barrier.pending) + " more";
  }
  barrier.pending -= count;
  complete_if_due(grid, home, offset, barrier);
  return {};
}

std::string complete_bytes(Grid& grid, Block& home, std::uint32_t offset, Mbarrier& barrier, std::int64_t bytes) {
  barrier.owed -= bytes;
  if (barrier.owed < -kOwedBytesMax) {
    return std::to_string(-barrier.owed) + " bytes came to a barrier that did not expect them: at most " + std::to_string(kOwedBytesMax) + " are allowed";
  }
  complete_if_due(grid, home, offset, barrier);
  return {};
}

std::string describe_mbarrier(const Block& home, std::uint32_t offset) {
  std::string text = "mbarrier at shared byte " + std::to_string(offset - kSharedStart) + " of block " + std::to_string(home.index);
  const auto found = home.mbarriers.find(offset);
  if (found == home.mbarriers.end()) return text + ", which is not initialised";
  const Mbarrier& barrier = found->second;
  text += ": phase " + std::to_string(barrier.phase) + " (parity " + std::to_string(barrier.phase & 1) + ") lacks " +
          std::to_string(barrier.pending) + " of " + std::to_string(barrier.expected) + " arrivals";
  if (barrier.owed > 0) text += " and " + std::to_string(barrier.owed) + " bytes that were announced but never copied";
  if (barrier.owed < 0) text += "; " + std::to_string(-barrier.owed) + " bytes landed that nobody had announced (expect_tx)";
  return text;
}

}  // namespace onelaunch::emu
