#include "sandbox/cuda/sweep.h"

namespace onelaunch::cuda {
namespace {

constexpr std::uint64_t kOfCache = 2, kBytesOfLoad = 16;
constexpr unsigned kBlock = 512, kBlocksPerSm = 2;

}  // namespace

Result<Sweep> Sweep::create(const Device& device, CUfunction kernel) {
  auto data = GuardedBuffer::create(device.driver(), device.ordinal(), kOfCache * device.properties().l2_bytes);
  if (!data) return because(data.error());
  return Sweep(device, kernel, std::move(*data));
}

Result<void> Sweep::enqueue(CUstream stream) {
  const Driver& driver = device_->driver();
  if (auto done = check(driver, driver.cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache"); !done) return done;
  CUdeviceptr data = data_.address();
  unsigned long long count = data_.bytes() / kBytesOfLoad;
  void* parameters[] = {&data, &count};
  const unsigned grid = static_cast<unsigned>(device_->properties().sms) * kBlocksPerSm;
  return check(driver, driver.cuLaunchKernel(kernel_, grid, 1, 1, kBlock, 1, 1, 0, stream, parameters, nullptr), "sweeping the cache");
}

}  // namespace onelaunch::cuda
