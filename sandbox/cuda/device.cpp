#include "sandbox/cuda/device.h"

#include <array>
#include <cstdio>

namespace onelaunch::cuda {
namespace {

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

std::string uuid_text(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += hex;
  }
  return text;
}

// Architectures whose newest instructions are only in the target with an a.
std::string target_of(int major, int minor) {
  const std::string number = std::to_string(major) + std::to_string(minor);
  return "sm_" + number + (major >= 9 ? "a" : "");
}

}  // namespace

Result<std::unique_ptr<Device>> Device::open(const Driver& driver, int ordinal) {
  std::unique_ptr<Device> device(new Device(driver));
  if (auto done = check(driver, driver.cuInit(0), "cuInit"); !done) return because(done.error());
  if (auto done = device->check_version(); !done) return because(done.error());
  if (auto done = device->find(ordinal); !done) return because(done.error());
  if (auto done = device->make_context(); !done) return because(done.error());
  device->read_properties();
  return device;
}

Result<void> Device::check_version() {
  int version = 0;
  if (auto done = check(driver_, driver_.cuDriverGetVersion(&version), "cuDriverGetVersion"); !done) return done;
  // Within one major version a driver loads the cubins of newer toolkits too.
  if (version / 1000 >= CUDA_VERSION / 1000) return {};
  return unavailable("the driver is for CUDA " + version_text(version) + ", older than this build's toolkit " +
                     version_text(CUDA_VERSION) + ": install a newer driver, or build with the older toolkit");
}

Result<void> Device::find(int ordinal) {
  int count = 0;
  if (auto done = check(driver_, driver_.cuDeviceGetCount(&count), "cuDeviceGetCount"); !done) return done;
  if (count == 0) return unavailable("the driver sees no GPU; CUDA_VISIBLE_DEVICES may hide it; --device emu needs none");
  if (ordinal < 0 || ordinal >= count)
    return unavailable("there is no device cuda:" + std::to_string(ordinal) + "; this machine has " + std::to_string(count) +
                       (count == 1 ? " GPU, cuda:0" : " GPUs, cuda:0 to cuda:" + std::to_string(count - 1)));
  if (auto done = check(driver_, driver_.cuDeviceGet(&device_, ordinal), "cuDeviceGet"); !done) return done;
  CUuuid uuid{};
  if (auto done = check(driver_, driver_.cuDeviceGetUuid(&uuid, device_), "cuDeviceGetUuid"); !done) return done;
  properties_.uuid = uuid_text(uuid);
  nvml_ = std::make_unique<Nvml>(properties_.uuid);
  if (nvml_->mig())
    return unavailable("the GPU " + properties_.uuid + " is cut into MIG instances: times on a part of a card that others use "
                       "say nothing; switch MIG off or name another GPU");
  return {};
}

Result<void> Device::make_context() {
  CUcontext context = nullptr;
  if (auto done = check(driver_, driver_.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain"); !done)
    return done;
  has_context_ = true;
  if (auto done = check(driver_, driver_.cuCtxSetCurrent(context), "cuCtxSetCurrent"); !done) return done;
  // A kernel gets no heap, little room to print, and no part of the second-level cache for itself.
  driver_.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20);
  driver_.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 0);
  driver_.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  return {};
}

Device::~Device() {
  if (has_context_) driver_.cuDevicePrimaryCtxRelease(device_);
}

int Device::attribute(CUdevice_attribute which) const {
  int value = 0;
  driver_.cuDeviceGetAttribute(&value, which, device_);
  return value;
}

void Device::read_properties() {
  DeviceProperties& p = properties_;
  std::array<char, 128> name{};
  driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device_);
  p.name = name.data();
  p.target = target_of(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  p.driver_version = nvml_->driver_version();
  std::size_t free = 0, total = 0;
  driver_.cuMemGetInfo(&free, &total);
  p.memory_free_bytes = free, p.memory_bytes = total;
  p.l2_bytes = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  p.sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  p.blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  p.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p.shared_per_sm = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  p.shared_per_block = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  p.shared_reserved_per_block = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  if (!nvml_->available()) p.warnings.push_back("NVML is missing: clocks, power and temperature are not recorded");
  if (const std::size_t others = nvml_->other_processes().size(); others > 0)
    p.warnings.push_back(std::to_string(others) + " other process" + (others == 1 ? " has" : "es have") +
                         " a context on this GPU: times may suffer");
}

}  // namespace onelaunch::cuda
