#pragma once
// Clocks, power and neighbours of a GPU, through libnvidia-ml loaded with dlopen. What it cannot say stays zero.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onelaunch::cuda {

struct Health {
  std::uint32_t sm_mhz = 0, memory_mhz = 0, power_mw = 0, temperature_c = 0;
  std::uint64_t throttle_reasons = 0;  // nvmlClocksEventReasons
};

class Nvml {
 public:
  // Loads and initialises it for the device with this UUID ("GPU-..."). Without the library all answers are empty.
  explicit Nvml(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return device_ != nullptr; }
  Health health() const;
  std::string driver_version() const;
  bool mig() const;                          // the card is cut into instances
  std::vector<unsigned> other_processes() const;  // pids with a context on the card, without this one

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

}  // namespace onelaunch::cuda
