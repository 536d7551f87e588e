#pragma once
// What %globaltimer shows: the time that the model (model/estimate.h) gives the work done so far.

#include <cstdint>

#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {

// Nanoseconds since the launch began, for this warp's block. A phase begins for all blocks when the slowest one has
// ended the phase before, and the wait on top; within a phase each block's clock goes by its own work. It never goes
// back. Waiting that takes no work (nanosleep, polls that the scheduler skips) shows as time passed for all.
std::uint64_t modelled_ns(const Warp& warp);

}  // namespace onelaunch::emu
