#pragma once
// Role "compile": loads NVRTC once, then compiles each job in a forked, confined child with its own limits.

#include "base/clock.h"
#include "sandbox/protocol/frame.h"

namespace onelaunch::worker {

// Serves until the host closes the connection; returns the process's exit code.
int serve_compiles(sandbox::FrameChannel& host, const Clock& clock);

}  // namespace onelaunch::worker
