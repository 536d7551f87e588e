#pragma once
// What a running kernel is counted by: work per block and phase, and which 32-byte sectors the L2 holds.
// The interpreter only adds here; model/estimate turns the sums into a time.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace onelaunch::emu {

constexpr std::size_t kCostClasses = 8;
constexpr std::size_t kSectorBytes = 32;

// Work of one block within one phase.
struct BlockPhase {
  std::uint64_t classes[kCostClasses] = {};  // warp instructions by CostClass
  std::uint64_t dram_read = 0, dram_written = 0;  // sectors
  std::uint64_t l2_sectors = 0;
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t atomics = 0;
  // Dependent chain: of the slowest warp between two block barriers, summed over them; and the longest that ended in
  // no barrier.
  double chain_cycles = 0, loose_chain_cycles = 0;
};

// Phases of one block. Addresses stay valid as phases are added.
using BlockPhases = std::deque<BlockPhase>;

// Fixed costs in cycles of the SM clock that the interpreter adds to a warp's dependent chain as it goes.
struct ChainCosts {
  std::uint32_t dram_cycles = 646, l2_cycles = 280, l1_cycles = 40, block_barrier_cycles = 30, cluster_barrier_cycles = 475, atomic_cycles = 519;
};

// Which sectors of a page the L2 holds (approximately: a page untouched for long is forgotten), and which are dirty.
struct PageUse {
  std::uint64_t present[2] = {}, dirty[2] = {};
  std::uint32_t epoch = 0;
};
constexpr std::size_t kPageBytes = 4096;

// Which 128-byte lines the L1 beside a block holds: direct-mapped, forgotten when the block acquires.
class L1Lines {
 public:
  static constexpr unsigned kLineLog2 = 7;
  void resize(std::size_t bytes) { tags_.assign(bytes >> kLineLog2, 0); }
  void forget() { ++generation_; }
  // True when the line is held; it is held from now on.
  bool read(std::uint64_t address) {
    if (tags_.empty()) return false;
    const std::uint64_t line = address >> kLineLog2, tag = line << 16 | (generation_ & 0xffff);
    std::uint64_t& held = tags_[line % tags_.size()];
    if (held == tag) return true;
    held = tag;
    return false;
  }

 private:
  std::vector<std::uint64_t> tags_;
  std::uint64_t generation_ = 1;
};

// The L2 as a clock: after every quarter of its capacity read from DRAM an epoch passes; four epochs forget a page.
class L2Clock {
 public:
  explicit L2Clock(std::size_t l2_bytes) : sectors_per_epoch_(l2_bytes / kSectorBytes / 4 + 1) {}
  std::uint32_t epoch() const { return epoch_; }
  void advance(std::uint64_t sectors) {
    passed_ += sectors;
    while (passed_ >= sectors_per_epoch_) passed_ -= sectors_per_epoch_, ++epoch_;
  }

 private:
  std::uint64_t sectors_per_epoch_, passed_ = 0;
  std::uint32_t epoch_ = 8;
};

}  // namespace onelaunch::emu
