#pragma once
// What all commands ask for that take kernels to a device: eval, compare, profile.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/cli/open_device.h"
#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace CLI {
class App;
}

namespace onelaunch::cli {

struct KernelOptions {
  std::string task, variant, device = "auto", target = "sm_90a";
  std::optional<std::uint64_t> seed;  // of weights, states and tokens
  bool json = false;
};

// TASK, --variant, --device, --target, --seed, --json.
void add_kernel_options(CLI::App& command, KernelOptions& options);

// The device that was asked for; what makes its times less trustworthy goes to standard error. Borrows task and clock.
Result<std::unique_ptr<sandbox::Sandbox>> open_for(const tasks::Task& task, const KernelOptions& options, const Clock& clock);

}  // namespace onelaunch::cli
