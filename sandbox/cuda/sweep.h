#pragma once
// Drives everything out of the second-level cache.

#include "sandbox/cuda/device.h"
#include "sandbox/cuda/guarded_buffer.h"

namespace onelaunch::cuda {

class Sweep {
 public:
  // Reads a buffer of twice the cache's size. `kernel`: (const uint4* data, unsigned long long count).
  static Result<Sweep> create(const Device& device, CUfunction kernel);
  // Enqueues it. Lines that were to persist are released first: a plain read then drives them out too, whereas the other
  // order leaves some, and writing would leave lines whose write-back is billed to what comes next.
  Result<void> enqueue(CUstream stream);

 private:
  Sweep(const Device& device, CUfunction kernel, GuardedBuffer data) : device_(&device), kernel_(kernel), data_(std::move(data)) {}
  const Device* device_;
  CUfunction kernel_;
  GuardedBuffer data_;
};

}  // namespace onelaunch::cuda
