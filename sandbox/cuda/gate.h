#pragma once
// Holds a stream back until everything that is to be timed is enqueued, so that the host's speed does not show.

#include "sandbox/cuda/handles.h"

namespace onelaunch::cuda {

class Gate {
 public:
  // `kernel`: (const volatile unsigned* flag, unsigned long long timeout_ns), returns when the flag is set.
  static Result<Gate> create(const Driver& driver, CUfunction kernel);

  // What is enqueued from here on waits.
  Result<void> close(CUstream stream);
  void open();

  // It opens by itself after this, so that a host that died leaves no kernel behind. What it let through then says nothing.
  static constexpr double kTimeoutS = 2;
  // More launches behind it and the driver's queue is full, so that the host waits for a gate that waits for the host.
  static constexpr std::size_t kLaunchesMax = 500;

 private:
  Gate(const Driver& driver, CUfunction kernel, HostMemory flag, CUdeviceptr address)
      : driver_(&driver), kernel_(kernel), flag_(std::move(flag)), address_(address) {}
  const Driver* driver_;
  CUfunction kernel_;
  HostMemory flag_;
  CUdeviceptr address_;
};

}  // namespace onelaunch::cuda
