#include "sandbox/cuda/gate.h"

#include <atomic>
#include <cstring>

namespace onelaunch::cuda {

Result<Gate> Gate::create(const Driver& driver, CUfunction kernel) {
  auto flag = HostMemory::create(driver, sizeof(unsigned));
  if (!flag) return because(flag.error());
  const auto address = flag->address();
  if (!address) return because(address.error());
  return Gate(driver, kernel, std::move(*flag), *address);
}

Result<void> Gate::close(CUstream stream) {
  std::memset(flag_.data(), 0, sizeof(unsigned));
  std::atomic_thread_fence(std::memory_order_seq_cst);
  CUdeviceptr flag = address_;
  auto timeout_ns = static_cast<unsigned long long>(kTimeoutS * 1e9);
  void* parameters[] = {&flag, &timeout_ns};
  return check(*driver_, driver_->cuLaunchKernel(kernel_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "closing the gate");
}

void Gate::open() { std::atomic_ref(*reinterpret_cast<unsigned*>(flag_.data())).store(1, std::memory_order_seq_cst); }

}  // namespace onelaunch::cuda
