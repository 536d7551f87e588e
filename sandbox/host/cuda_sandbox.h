#pragma once
// The Sandbox on an NVIDIA GPU.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/grader.h"
#include "sandbox/host/microbench.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct CudaOptions {
  int ordinal = 0;
  std::uint64_t weight_seed = 1;
  std::filesystem::path worker;         // empty: find_worker()
  std::filesystem::path cache;          // empty: default_cache_folder()
  std::filesystem::path locks;          // empty: default_lock_folder()
  std::string purpose;                  // for the lock's record
  std::string role;                     // of the workers; empty: "cuda:<ordinal>"
  int threads = 2;                      // for the CPU oracle and its weights
  int weight_sets = 8;                  // at least, memory permitting
  double chain_us = 2000;               // length of a timed chain
  bool fresh_ceilings = false;          // measure them even if some of this day are kept
  std::optional<MicrobenchPlan> ceilings_plan;  // instead of the one that fits the device
  CompileLimits compile_limits;
  GradeLimits grade_limits{.launch_s = 10};
  std::size_t source_bytes_max = 4u << 20;
};

// Borrows task and clock; holds the GPU's lock. Fails (unavailable) with what is missing: driver, device, worker, NVRTC,
// CUDA's headers, memory, or with who has the lock.
Result<std::unique_ptr<Sandbox>> open_cuda(const tasks::Task& task, const CudaOptions& options, const Clock& clock);

// All of a GPU's ceilings, kept in the cache folder for a day. Holds the GPU's lock meanwhile; fails like open_cuda().
Result<Ceilings> cuda_ceilings(const CudaOptions& options, const Clock& clock);
// What the emulator's profile for this target says.
Result<Ceilings> emulated_ceilings(const std::filesystem::path& worker, const std::string& target, const Clock& clock);

}  // namespace onelaunch::sandbox
