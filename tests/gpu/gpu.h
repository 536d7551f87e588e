#pragma once
// The little of the CUDA driver that the GPU tests need, found with dlopen: no driver is needed to build or to skip.

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace onelaunch::gpu {

struct Driver {
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuGetErrorString) error_string = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDeviceGetName) device_name = nullptr;
  decltype(&::cuDeviceGetAttribute) attribute = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&::cuCtxSetCurrent) set_current = nullptr;
  decltype(&::cuModuleLoadData) load = nullptr;
  decltype(&::cuModuleGetFunction) function = nullptr;
  decltype(&::cuModuleGetGlobal) global = nullptr;
  decltype(&::cuFuncSetAttribute) set_attribute = nullptr;
  decltype(&::cuMemAlloc) allocate = nullptr;
  decltype(&::cuMemcpyHtoD) upload = nullptr;
  decltype(&::cuMemcpyDtoH) download = nullptr;
  decltype(&::cuMemsetD8) fill = nullptr;
  decltype(&::cuLaunchCooperativeKernel) launch = nullptr;
  decltype(&::cuLaunchKernel) launch_plain = nullptr;
  decltype(&::cuCtxSynchronize) synchronize = nullptr;
  decltype(&::cuEventCreate) event_create = nullptr;
  decltype(&::cuEventRecord) event_record = nullptr;
  decltype(&::cuEventSynchronize) event_synchronize = nullptr;
  decltype(&::cuEventElapsedTime) elapsed = nullptr;
};

// A kernel on GPU 0 with its buffers. Throws std::runtime_error with the driver's words.
class Gpu {
 public:
  // Why there is none, or empty.
  static std::string missing();
  Gpu();

  std::string name() const { return name_; }
  int sms() const { return sms_; }
  void load(const std::string& image);  // PTX or cubin
  void load(const std::string& image, const char* entry);
  std::vector<std::uint64_t> constant(const char* variable);
  std::uint64_t buffer(std::span<const std::byte> content);
  std::vector<std::byte> read(std::uint64_t address, std::size_t bytes);
  void write(std::uint64_t address, std::span<const std::byte> content);
  void launch(unsigned grid, unsigned block, unsigned dynamic_shared, const void* parameters);
  void wait();

  // Any entry of the loaded module, launched without cooperation: one 8-byte parameter a word.
  CUfunction entry(const std::string& name);
  void launch(CUfunction entry, unsigned grid, unsigned block, unsigned dynamic_shared, std::span<std::uint64_t> words);
  std::uint64_t allocate(std::size_t bytes);
  // Between events around what `work` launches.
  double time_us(const std::function<void()>& work);
  // Microseconds between events around `count` launches, per launch.
  double time_us(int count, unsigned grid, unsigned block, unsigned dynamic_shared, const void* parameters);

 private:
  void check(CUresult result, const char* what) const;
  Driver driver_;
  CUfunction function_ = nullptr;
  CUmodule module_ = nullptr;
  std::string name_;
  int sms_ = 0;
};

}  // namespace onelaunch::gpu
