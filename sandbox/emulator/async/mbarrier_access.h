#pragma once
// From a lane's address to the barrier there, or to a report.

#include <cstdint>

#include "sandbox/emulator/async/mbarrier.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {

struct MbarrierPlace {
  Mbarrier* barrier = nullptr;      // null: wrong, and reported
  Block* home = nullptr;
  std::uint32_t offset = 0;         // in its shared memory
};

// `shared`: the address is one of shared memory, else a generic one.
MbarrierPlace find_mbarrier(Warp& warp, const DecodedOp& op, bool shared, std::uint64_t address, unsigned lane);

// Model: the block's cycles at which this warp is.
double cycles_of(const Warp& warp);

}  // namespace onelaunch::emu
