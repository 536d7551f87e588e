#pragma once
// Role "cuda:N": modules on a GPU, their buffers, and the launches that the host orders.

#include "base/clock.h"
#include "sandbox/protocol/frame.h"

namespace onelaunch::worker {

// Opens the device when first asked for anything, gives up files, network and most system calls once everything is
// loaded and allocated, and serves until the host closes the connection. Returns the exit code.
int serve_cuda(sandbox::FrameChannel& host, int ordinal, const Clock& clock);

}  // namespace onelaunch::worker
