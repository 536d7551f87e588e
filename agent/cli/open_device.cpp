#include "agent/cli/open_device.h"

#include <algorithm>
#include <thread>

#include "agent/loop/opening.h"
#include "sandbox/host/process_sandbox.h"

namespace onelaunch::cli {

Result<std::string> choose_device(const std::string& device) {
  if (device == "auto" || device == "emu") return std::string("emu");
  if (device.starts_with("cuda"))
    return invalid("--device " + device + ": this build has no CUDA device yet; --device emu runs anywhere");
  return invalid("unknown device `" + device + "`; this build has: auto, emu");
}

Result<std::unique_ptr<sandbox::Sandbox>> open_device(const tasks::Task& task, const DeviceOptions& options,
                                                      const Clock& clock) {
  const Result<std::string> device = choose_device(options.device);
  if (!device) return because(device.error());
  sandbox::EmulatedOptions emulated;
  emulated.target = options.target;
  emulated.weight_seed = options.weight_seed ? *options.weight_seed : agent::random_seed();
  emulated.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return sandbox::open_emulated(task, emulated, clock);
}

}  // namespace onelaunch::cli
