#pragma once
// Device memory between unmapped pages: reading or writing past its end, or far before it, faults. The slack before and
// behind it, inside the same pages, holds canaries.

#include <cuda.h>

#include <cstdint>

#include "base/result.h"
#include "sandbox/cuda/driver.h"

namespace onelaunch::cuda {

class GuardedBuffer {
 public:
  // The payload ends where the mapping ends, rounded down to a multiple of kAlignment, which costs no bandwidth
  // (16 or 64 bytes would cost up to 1.7 % on an H200). Zeroed by the driver.
  static Result<GuardedBuffer> create(const Driver& driver, int device, std::uint64_t bytes);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer();

  CUdeviceptr address() const { return payload_; }
  std::uint64_t bytes() const { return bytes_; }
  bool sealed() const { return sealed_; }
  // From now on a write faults.
  Result<void> seal();
  enum class Slack { near, whole };  // near: the kCanaryBytes before the payload
  // Whether the bytes before and behind the payload are as they were. Waits for the device.
  Result<bool> intact(Slack slack) const;

  static constexpr std::uint64_t kAlignment = 256;
  static constexpr std::uint64_t kCanaryBytes = 4096;

 private:
  GuardedBuffer(const Driver& driver, int device) : driver_(&driver), device_(device) {}
  Result<void> map(std::uint64_t granularity);
  Result<void> write_canaries();
  Result<bool> holds_canaries(CUdeviceptr from, CUdeviceptr to) const;
  Result<void> allow(CUmemAccess_flags access);

  const Driver* driver_;
  int device_;
  CUdeviceptr reserved_ = 0, mapped_ = 0, payload_ = 0;
  std::uint64_t reserved_bytes_ = 0, mapped_bytes_ = 0, bytes_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  bool has_memory_ = false, is_mapped_ = false, sealed_ = false;
};

}  // namespace onelaunch::cuda
