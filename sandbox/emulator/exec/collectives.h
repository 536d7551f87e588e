#pragma once
// Operations of several lanes together: shfl, vote, bar.warp.sync and the like wait until every lane of their
// membermask that still runs has come to them.

#include <vector>

#include "sandbox/emulator/exec/splits.h"

namespace onelaunch::emu {

// True: done, the split goes on. False: it waits for others (or the launch has been stopped by a fault).
bool run_collective(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready);

// Lanes exited: collectives that waited for them may run now.
void retry_collectives(WarpRun& run, std::vector<Split*>& ready);

}  // namespace onelaunch::emu
