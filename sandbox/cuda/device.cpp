#include "sandbox/cuda/device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace onelaunch::cuda {
namespace {

constexpr int kCapabilityMin = 8;
constexpr std::size_t kPrintedBytesMax = 1 << 20, kStackBytes = 1024;

// Whether the same program started it: the reference's worker, say, which rests while this one works.
bool is_sibling(unsigned pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5) == ::getppid();
  return false;
}

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

Result<std::unique_ptr<Device>> Device::open(const Driver& driver, const NvmlFunctions& nvml, int ordinal) {
  std::unique_ptr<Device> device(new Device(driver));
  if (auto done = check(driver, driver.cuInit(0), "cuInit"); !done) return because(done.error());
  if (auto done = device->check_version(); !done) return because(done.error());
  if (auto done = device->find(ordinal); !done) return because(done.error());
  if (auto done = device->check_use(nvml); !done) return because(done.error());
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
  std::array<char, 128> name{};
  driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device_);
  properties_.name = name.data();
  return {};
}

Result<void> Device::check_use(const NvmlFunctions& nvml) {
  nvml_ = std::make_unique<Nvml>(nvml, properties_.uuid);
  const std::string which = properties_.name + " (" + properties_.uuid + ")";
  if (nvml_->mig() || properties_.name.find(" MIG ") != std::string::npos)
    return unavailable(which + " is cut into MIG instances: times on a part of a card that others use say nothing; switch "
                       "MIG off (nvidia-smi -mig 0) or name another GPU");
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  if (major < kCapabilityMin)
    return unavailable(which + " is of compute capability " + std::to_string(major) + "." +
                       std::to_string(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)) + "; kernels here need " +
                       std::to_string(kCapabilityMin) + ".0 or newer");
  const int mode = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  if (mode == CU_COMPUTEMODE_PROHIBITED)
    return unavailable(which + " lets no program compute on it: set its compute mode back (nvidia-smi -c 0)");
  if (mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS)
    return unavailable(which + " serves one process at a time, and the reference and the candidate are two: set its compute "
                       "mode back (nvidia-smi -c 0)");
  return {};
}

Result<void> Device::make_context() {
  CUcontext context = nullptr;
  if (auto done = check(driver_, driver_.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain"); !done)
    return done;
  has_context_ = true;
  if (auto done = check(driver_, driver_.cuCtxSetCurrent(context), "cuCtxSetCurrent"); !done) return done;
  // A kernel gets no heap, little room to print, a fixed stack, and no part of the second-level cache for itself. Where
  // the driver knows better what is little, so be it; of the cache all must stay shared.
  driver_.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, kPrintedBytesMax);
  driver_.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 0);
  driver_.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, kStackBytes);
  if (attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE) == 0) return {};
  return check(driver_, driver_.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0), "cuCtxSetLimit of the persisting cache");
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
  add_warnings();
}

void Device::add_warnings() {
  std::vector<std::string>& warnings = properties_.warnings;
  if (!nvml_->available()) warnings.push_back("NVML is missing: clocks, power, temperature and other processes are not seen");
  const auto others = std::ranges::count_if(nvml_->other_processes(), [](unsigned pid) { return !is_sibling(pid); });
  if (others > 0)
    warnings.push_back(std::to_string(others) + " other process" + (others == 1 ? " has" : "es have") +
                       " a context on this GPU: times may suffer");
  for (std::string& warning : nvml_->warnings()) warnings.push_back(std::move(warning));
}

}  // namespace onelaunch::cuda
