#pragma once
// One GPU: its context, and what it says about itself.

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/cuda/driver.h"
#include "sandbox/cuda/nvml.h"

namespace onelaunch::cuda {

// Read from the card.
struct DeviceProperties {
  std::string name, target;             // "NVIDIA H200", "sm_90a"
  std::string uuid, driver_version;     // "GPU-8f6f...", "580.159.04"
  std::vector<std::string> warnings;
  std::uint64_t memory_bytes = 0, memory_free_bytes = 0, l2_bytes = 0;
  int sms = 0, threads_per_sm = 0, threads_per_block = 0, blocks_per_sm = 0;
  int registers_per_sm = 0, registers_per_block = 0;
  std::uint64_t shared_per_sm = 0, shared_per_block = 0, shared_reserved_per_block = 0;
};

// Borrows the driver. Not for use by two threads at once.
class Device {
 public:
  // Fails (unavailable) when there is no such device, naming how many there are; on a card that is too old, cut into MIG
  // instances or kept to one process; and when the driver is older than the toolkit whose cubins it is to load.
  static Result<std::unique_ptr<Device>> open(const Driver& driver, const NvmlFunctions& nvml, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return driver_; }
  int ordinal() const { return device_; }
  const DeviceProperties& properties() const { return properties_; }
  Health health() const { return nvml_->health(); }

 private:
  explicit Device(const Driver& driver) : driver_(driver) {}
  Result<void> check_version();
  Result<void> find(int ordinal);
  Result<void> check_use(const NvmlFunctions& nvml);
  Result<void> make_context();
  int attribute(CUdevice_attribute which) const;
  void read_properties();
  void add_warnings();

  const Driver& driver_;
  CUdevice device_ = 0;
  bool has_context_ = false;
  std::unique_ptr<Nvml> nvml_;
  DeviceProperties properties_;
};

}  // namespace onelaunch::cuda
