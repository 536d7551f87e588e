#include "sandbox/cuda/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <type_traits>

namespace onelaunch::cuda {
namespace {

// The part of NVML's stable C interface that is used; its header is no part of every toolkit.
using Device = void*;
constexpr int kSuccess = 0;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;
constexpr unsigned kMigEnabled = 1;
constexpr std::uint64_t kIdle = 1;  // a clocks event reason that is no throttling
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_uuid)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;

  bool find(void* library) {
    const auto get = [&](const char* symbol, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
      return function != nullptr;
    };
    return get("nvmlInit_v2", init) && get("nvmlShutdown", shutdown) && get("nvmlDeviceGetHandleByUUID", by_uuid) &&
           get("nvmlDeviceGetClockInfo", clock) && get("nvmlDeviceGetPowerUsage", power) &&
           get("nvmlDeviceGetTemperature", temperature) && get("nvmlDeviceGetCurrentClocksThrottleReasons", reasons) &&
           get("nvmlSystemGetDriverVersion", driver_version) && get("nvmlDeviceGetMigMode", mig_mode) &&
           get("nvmlDeviceGetComputeRunningProcesses_v3", processes);
  }
};

Nvml::Nvml(const std::string& uuid) : functions_(std::make_unique<Functions>()) {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr || !functions_->find(library) || functions_->init() != kSuccess) return;
  Device device = nullptr;
  if (functions_->by_uuid(uuid.c_str(), &device) == kSuccess) device_ = device;
}

Nvml::~Nvml() {
  if (device_ != nullptr) functions_->shutdown();
}

Health Nvml::health() const {
  Health health;
  if (device_ == nullptr) return health;
  unsigned long long reasons = 0;
  functions_->clock(device_, kSmClock, &health.sm_mhz);
  functions_->clock(device_, kMemoryClock, &health.memory_mhz);
  functions_->power(device_, &health.power_mw);
  functions_->temperature(device_, kGpuSensor, &health.temperature_c);
  if (functions_->reasons(device_, &reasons) == kSuccess) health.throttle_reasons = reasons & ~kIdle;
  return health;
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (device_ == nullptr || functions_->driver_version(text.data(), static_cast<unsigned>(text.size())) != kSuccess) return "";
  return text.data();
}

bool Nvml::mig() const {
  unsigned current = 0, pending = 0;
  return device_ != nullptr && functions_->mig_mode(device_, &current, &pending) == kSuccess && current == kMigEnabled;
}

std::vector<unsigned> Nvml::other_processes() const {
  std::vector<unsigned> pids;
  std::array<ProcessInfo, 64> processes{};
  unsigned count = processes.size();
  if (device_ == nullptr || functions_->processes(device_, &count, processes.data()) != kSuccess) return pids;
  for (unsigned i = 0; i < count; ++i)
    if (processes[i].pid != static_cast<unsigned>(::getpid())) pids.push_back(processes[i].pid);
  return pids;
}

}  // namespace onelaunch::cuda
