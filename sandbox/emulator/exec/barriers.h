#pragma once
// bar and barrier: block-wide and named barriers.

#include <cstdint>
#include <vector>

#include "sandbox/emulator/exec/splits.h"

namespace onelaunch::emu {

// DecodedOp::extra of Control::block_barrier.
struct BarrierForm {
  enum class Kind : std::uint8_t { sync, arrive, red_and, red_or, red_popc };
  Kind kind = Kind::sync;
  bool aligned = true;
  bool negated = false;          // of the predicate
  std::uint32_t pack() const {
    return static_cast<std::uint32_t>(kind) | std::uint32_t{aligned} << 4 | std::uint32_t{negated} << 5;
  }
  static BarrierForm unpack(std::uint32_t bits) {
    return {static_cast<Kind>(bits & 15), (bits >> 4 & 1) != 0, (bits >> 5 & 1) != 0};
  }
};

// The split's lanes arrive. True: it goes on at once (arrive); false: it waits, or its wait is over and it is among
// `ready`, as are all whom the barrier let go.
bool arrive_at_barrier(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready);

// Threads of the block ended: barriers that wait for all threads may be complete.
void threads_exited(Block& block, std::vector<Split*>& ready);

}  // namespace onelaunch::emu
