#pragma once
// Turns --device and --target into a sandbox for one task.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::cli {

struct DeviceOptions {
  std::string device = "auto";  // "auto", "cuda:N", "emu"
  std::string target = "sm_90a";
  std::optional<std::uint64_t> weight_seed;  // random when absent
};

// "emu" or "cuda:N"; fails (invalid_input) on a name that is none.
Result<std::string> choose_device(const std::string& device);

// Borrows the task and the clock.
Result<std::unique_ptr<sandbox::Sandbox>> open_device(const tasks::Task& task, const DeviceOptions& options,
                                                      const Clock& clock);

}  // namespace onelaunch::cli
