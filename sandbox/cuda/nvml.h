#pragma once
// Clocks, power and neighbours of a GPU, through libnvidia-ml loaded with dlopen. What it cannot say stays zero.

#include <cstdint>
#include <string>
#include <vector>

namespace onelaunch::cuda {

// The part of NVML's stable C interface that is used; its header is no part of every toolkit. Tests fill it themselves.
struct NvmlFunctions {
  using Device = void*;
  struct Process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
  };
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_uuid)(const char* uuid, Device* device) = nullptr;
  int (*clock)(Device, int which, unsigned* mhz) = nullptr;
  int (*power)(Device, unsigned* mw) = nullptr;
  int (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  int (*reasons)(Device, unsigned long long* bits) = nullptr;
  int (*driver_version)(char* text, unsigned bytes) = nullptr;
  int (*mig_mode)(Device, unsigned* current, unsigned* pending) = nullptr;
  int (*persistence_mode)(Device, unsigned* mode) = nullptr;
  int (*ecc_errors)(Device, int kind, int counter, unsigned long long* count) = nullptr;
  int (*processes)(Device, unsigned* count, Process* processes) = nullptr;
};

// All null where there is no such library, or one without these functions.
NvmlFunctions load_nvml();

struct Health {
  std::uint32_t sm_mhz = 0, memory_mhz = 0, power_mw = 0, temperature_c = 0;
  std::uint64_t throttle_reasons = 0;  // nvmlClocksEventReasons without "idle"
};

class Nvml {
 public:
  // Initialises it for the device with this UUID ("GPU-..."). Without the library all answers are empty.
  Nvml(const NvmlFunctions& functions, const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return device_ != nullptr; }
  Health health() const;
  std::string driver_version() const;
  bool mig() const;                          // the card is cut into instances, or this is one of them
  std::vector<unsigned> other_processes() const;  // pids with a context on the card, without this one
  // What makes times on this card doubtful, in words: slowed clocks, failing memory.
  std::vector<std::string> warnings() const;

 private:
  NvmlFunctions functions_;
  NvmlFunctions::Device device_ = nullptr;
  bool instance_ = false;
};

}  // namespace onelaunch::cuda
