#include "agent/cli/open_device.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <thread>

#include "agent/loop/opening.h"
#include "sandbox/host/cuda_sandbox.h"
#include "sandbox/host/emulated_sandbox.h"

namespace onelaunch::cli {

namespace {

// The N of "cuda:N", or of "cuda", which is the first.
std::optional<int> ordinal_of(const std::string& device) {
  if (device == "cuda") return 0;
  const std::string prefix = "cuda:";
  if (!device.starts_with(prefix)) return std::nullopt;
  int ordinal = 0;
  const char* const end = device.data() + device.size();
  const auto [stopped, error] = std::from_chars(device.data() + prefix.size(), end, ordinal);
  if (error != std::errc() || stopped != end || ordinal < 0) return std::nullopt;
  return ordinal;
}

// A driver that is loaded has this file.
bool has_gpu() { return std::filesystem::exists("/proc/driver/nvidia/version"); }

}  // namespace

Result<std::string> choose_device(const std::string& device) {
  if (device == "emu") return device;
  if (device == "auto") return std::string(has_gpu() ? "cuda:0" : "emu");
  if (const std::optional<int> ordinal = ordinal_of(device)) return "cuda:" + std::to_string(*ordinal);
  return invalid("unknown device `" + device + "`; there are: auto, cuda:N, emu");
}

Result<std::unique_ptr<sandbox::Sandbox>> open_device(const tasks::Task& task, const DeviceOptions& options,
                                                      const Clock& clock) {
  const Result<std::string> device = choose_device(options.device);
  if (!device) return because(device.error());
  const std::uint64_t weight_seed = options.weight_seed ? *options.weight_seed : agent::random_seed();
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (const std::optional<int> ordinal = ordinal_of(*device)) {
    sandbox::CudaOptions cuda;
    cuda.ordinal = *ordinal;
    cuda.weight_seed = weight_seed;
    cuda.purpose = "onelaunch, task " + task.name;
    cuda.threads = threads;
    return sandbox::open_cuda(task, cuda, clock);
  }
  sandbox::EmulatedOptions emulated;
  emulated.target = options.target;
  emulated.weight_seed = weight_seed;
  emulated.threads = threads;
  return sandbox::open_emulated(task, emulated, clock);
}

}  // namespace onelaunch::cli
