#pragma once
// The Sandbox on the emulated device.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/grader.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct EmulatedOptions {
  std::string target = "sm_90a";
  std::uint64_t weight_seed = 1;
  std::filesystem::path worker;              // empty: find_worker()
  std::filesystem::path cache;               // empty: default_cache_folder()
  int threads = 2;                           // for weights and oracle
  CompileLimits compile_limits;
  GradeLimits grade_limits;
  std::size_t source_bytes_max = 4u << 20;
};

// The `emu` device. Borrows task and clock. Fails (unavailable) with what is missing: the worker, NVRTC, CUDA's headers.
// Weights are made when first needed.
Result<std::unique_ptr<Sandbox>> open_emulated(const tasks::Task& task, const EmulatedOptions& options, const Clock& clock);

}  // namespace onelaunch::sandbox
