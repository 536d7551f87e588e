#include "sandbox/cuda/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <type_traits>

namespace onelaunch::cuda {
namespace {

constexpr int kSuccess = 0;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;
constexpr int kUncorrected = 1, kSinceBoot = 0;
constexpr unsigned kMigEnabled = 1;
constexpr std::uint64_t kIdle = 1;  // a clocks event reason that is no throttling

// Reasons that last: power capping comes and goes with the load and is kept with each sample.
struct Reason {
  std::uint64_t bit;
  const char* text;
};
constexpr Reason kLastingReasons[] = {
    {0x002, "the clocks are set below what the card can do (nvidia-smi -rac resets them)"},
    {0x008, "the hardware slows the clocks down"},
    {0x020, "the clocks are slowed down: the card is too hot"},
    {0x040, "the hardware slows the clocks down: the card is too hot"},
    {0x080, "the hardware slows the clocks down: the power supply asks for it"},
};

bool complete(const NvmlFunctions& f) {
  return f.init != nullptr && f.shutdown != nullptr && f.by_uuid != nullptr && f.clock != nullptr && f.power != nullptr &&
         f.temperature != nullptr && f.reasons != nullptr && f.driver_version != nullptr && f.mig_mode != nullptr &&
         f.persistence_mode != nullptr && f.ecc_errors != nullptr && f.processes != nullptr;
}

}  // namespace

NvmlFunctions load_nvml() {
  NvmlFunctions all;
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) return all;
  const auto get = [library](const char* symbol, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
  };
  get("nvmlInit_v2", all.init);
  get("nvmlShutdown", all.shutdown);
  get("nvmlDeviceGetHandleByUUID", all.by_uuid);
  get("nvmlDeviceGetClockInfo", all.clock);
  get("nvmlDeviceGetPowerUsage", all.power);
  get("nvmlDeviceGetTemperature", all.temperature);
  get("nvmlDeviceGetCurrentClocksThrottleReasons", all.reasons);
  get("nvmlSystemGetDriverVersion", all.driver_version);
  get("nvmlDeviceGetMigMode", all.mig_mode);
  get("nvmlDeviceGetPersistenceMode", all.persistence_mode);
  get("nvmlDeviceGetTotalEccErrors", all.ecc_errors);
  get("nvmlDeviceGetComputeRunningProcesses_v3", all.processes);
  return all;
}

Nvml::Nvml(const NvmlFunctions& functions, const std::string& uuid) : functions_(functions) {
  if (!complete(functions_) || functions_.init() != kSuccess) return;
  if (functions_.by_uuid(uuid.c_str(), &device_) == kSuccess) return;
  // The driver gives an instance's UUID without the word before it.
  const std::string of_instance = "MIG-" + uuid.substr(uuid.find('-') + 1);
  if (functions_.by_uuid(of_instance.c_str(), &device_) == kSuccess) {
    instance_ = true;
    return;
  }
  device_ = nullptr;
  functions_.shutdown();
}

Nvml::~Nvml() {
  if (device_ != nullptr) functions_.shutdown();
}

Health Nvml::health() const {
  Health health;
  if (device_ == nullptr) return health;
  unsigned long long reasons = 0;
  functions_.clock(device_, kSmClock, &health.sm_mhz);
  functions_.clock(device_, kMemoryClock, &health.memory_mhz);
  functions_.power(device_, &health.power_mw);
  functions_.temperature(device_, kGpuSensor, &health.temperature_c);
  if (functions_.reasons(device_, &reasons) == kSuccess) health.throttle_reasons = reasons & ~kIdle;
  return health;
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (device_ == nullptr || functions_.driver_version(text.data(), static_cast<unsigned>(text.size())) != kSuccess) return "";
  return text.data();
}

bool Nvml::mig() const {
  unsigned current = 0, pending = 0;
  if (instance_) return true;
  return device_ != nullptr && functions_.mig_mode(device_, &current, &pending) == kSuccess && current == kMigEnabled;
}

std::vector<unsigned> Nvml::other_processes() const {
  std::vector<unsigned> pids;
  std::array<NvmlFunctions::Process, 64> processes{};
  unsigned count = processes.size();
  if (device_ == nullptr || functions_.processes(device_, &count, processes.data()) != kSuccess) return pids;
  for (unsigned i = 0; i < count && i < processes.size(); ++i)
    if (processes[i].pid != static_cast<unsigned>(::getpid())) pids.push_back(processes[i].pid);
  return pids;
}

std::vector<std::string> Nvml::warnings() const {
  std::vector<std::string> all;
  if (device_ == nullptr) return all;
  const std::uint64_t reasons = health().throttle_reasons;
  for (const Reason& reason : kLastingReasons)
    if ((reasons & reason.bit) != 0) all.emplace_back(reason.text);
  unsigned persistence = 1;
  if (functions_.persistence_mode(device_, &persistence) == kSuccess && persistence == 0)
    all.emplace_back("persistence mode is off: each first use of the GPU takes seconds (nvidia-smi -pm 1)");
  unsigned long long errors = 0;
  if (functions_.ecc_errors(device_, kUncorrected, kSinceBoot, &errors) == kSuccess && errors > 0)
    all.push_back("the GPU's memory has had " + std::to_string(errors) + " errors since the last start that it could not correct");
  return all;
}

}  // namespace onelaunch::cuda
