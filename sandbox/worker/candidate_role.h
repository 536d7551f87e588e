#pragma once
// Role "emu": one module on the emulated device, its buffers, and the launches that the host orders.

#include "sandbox/protocol/frame.h"

namespace onelaunch::worker {

// Gives up files and network first, then serves until the host closes the connection; returns the exit code.
int serve_emulated(sandbox::FrameChannel& host);

}  // namespace onelaunch::worker
