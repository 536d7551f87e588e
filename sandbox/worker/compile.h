#pragma once
// One NVRTC compilation in this process. The process should be confined before (confinement.h).

#include <filesystem>

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/nvrtc.h"

namespace onelaunch::worker {

// `include`: the CUDA header tree as this process sees it. Time and memory are the caller's to limit.
sandbox::CompileReply compile(const Nvrtc& nvrtc, const std::filesystem::path& include, const sandbox::CompileJob& job);

}  // namespace onelaunch::worker
