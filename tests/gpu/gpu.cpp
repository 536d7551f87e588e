#include "tests/gpu/gpu.h"

#include <dlfcn.h>

#include <stdexcept>

namespace onelaunch::gpu {
namespace {

#define OL_STRING_OF(name) #name
#define OL_SYMBOL(name) OL_STRING_OF(name)  // cuMemAlloc becomes cuMemAlloc_v2

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::string fill(Driver& d) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return dlerror();
  const bool all = find(library, OL_SYMBOL(cuInit), d.init) && find(library, OL_SYMBOL(cuGetErrorString), d.error_string) &&
                   find(library, OL_SYMBOL(cuDeviceGet), d.device_get) && find(library, OL_SYMBOL(cuDeviceGetName), d.device_name) &&
                   find(library, OL_SYMBOL(cuDeviceGetAttribute), d.attribute) && find(library, OL_SYMBOL(cuDevicePrimaryCtxRetain), d.retain) &&
                   find(library, OL_SYMBOL(cuCtxSetCurrent), d.set_current) && find(library, OL_SYMBOL(cuModuleLoadData), d.load) &&
                   find(library, OL_SYMBOL(cuModuleGetFunction), d.function) && find(library, OL_SYMBOL(cuModuleGetGlobal), d.global) &&
                   find(library, OL_SYMBOL(cuFuncSetAttribute), d.set_attribute) && find(library, OL_SYMBOL(cuMemAlloc), d.allocate) &&
                   find(library, OL_SYMBOL(cuMemcpyHtoD), d.upload) && find(library, OL_SYMBOL(cuMemcpyDtoH), d.download) &&
                   find(library, OL_SYMBOL(cuMemsetD8), d.fill) && find(library, OL_SYMBOL(cuLaunchCooperativeKernel), d.launch) &&
                   find(library, OL_SYMBOL(cuLaunchKernel), d.launch_plain) && find(library, OL_SYMBOL(cuCtxSynchronize), d.synchronize) && find(library, OL_SYMBOL(cuEventCreate), d.event_create) &&
                   find(library, OL_SYMBOL(cuEventRecord), d.event_record) && find(library, OL_SYMBOL(cuEventSynchronize), d.event_synchronize) &&
                   find(library, OL_SYMBOL(cuEventElapsedTime), d.elapsed);
  if (!all) return "libcuda.so.1 lacks a function that is needed";
  const CUresult result = d.init(0);
  return result == CUDA_SUCCESS ? "" : "cuInit fails with " + std::to_string(result);
}

}  // namespace

std::string Gpu::missing() {
  Driver driver;
  return fill(driver);
}

void Gpu::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  driver_.error_string(result, &text);
  throw std::runtime_error(std::string(what) + ": " + text);
}

Gpu::Gpu() {
  if (const std::string why = fill(driver_); !why.empty()) throw std::runtime_error(why);
  CUdevice device = 0;
  check(driver_.device_get(&device, 0), "device 0");
  char name[128] = {};
  check(driver_.device_name(name, sizeof name, device), "name");
  name_ = name;
  check(driver_.attribute(&sms_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "multiprocessors");
  CUcontext context = nullptr;
  check(driver_.retain(&context, device), "context");
  check(driver_.set_current(context), "context");
}

void Gpu::load(const std::string& image) { check(driver_.load(&module_, image.c_str()), "module"); }

void Gpu::load(const std::string& image, const char* entry) {
  load(image);
  check(driver_.function(&function_, module_, entry), entry);
}

std::vector<std::uint64_t> Gpu::constant(const char* variable) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  check(driver_.global(&address, &bytes, module_, variable), variable);
  std::vector<std::uint64_t> words(bytes / 8);
  check(driver_.download(words.data(), address, bytes), variable);
  return words;
}

std::uint64_t Gpu::buffer(std::span<const std::byte> content) {
  if (content.empty()) return 0;
  const std::uint64_t address = allocate(content.size());
  write(address, content);
  return address;
}

std::uint64_t Gpu::allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  check(driver_.allocate(&address, bytes), "allocation");
  return address;
}

std::vector<std::byte> Gpu::read(std::uint64_t address, std::size_t bytes) {
  std::vector<std::byte> content(bytes);
  check(driver_.download(content.data(), address, bytes), "download");
  return content;
}

void Gpu::write(std::uint64_t address, std::span<const std::byte> content) {
  check(driver_.upload(address, content.data(), content.size()), "upload");
}

void Gpu::launch(unsigned grid, unsigned block, unsigned dynamic_shared, const void* parameters) {
  void* pointers[] = {const_cast<void*>(parameters)};
  check(driver_.set_attribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(dynamic_shared)), "shared memory");
  check(driver_.launch(function_, grid, 1, 1, block, 1, 1, dynamic_shared, nullptr, pointers), "launch");
}

CUfunction Gpu::entry(const std::string& name) {
  CUfunction found = nullptr;
  check(driver_.function(&found, module_, name.c_str()), name.c_str());
  return found;
}

void Gpu::launch(CUfunction entry, unsigned grid, unsigned block, unsigned dynamic_shared, std::span<std::uint64_t> words) {
  std::vector<void*> pointers;
  for (std::uint64_t& word : words) pointers.push_back(&word);
  check(driver_.set_attribute(entry, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(dynamic_shared)), "shared memory");
  check(driver_.launch_plain(entry, grid, 1, 1, block, 1, 1, dynamic_shared, nullptr, pointers.data(), nullptr), "launch");
}

void Gpu::wait() { check(driver_.synchronize(), "running the kernel"); }

double Gpu::time_us(int count, unsigned grid, unsigned block, unsigned dynamic_shared, const void* parameters) {
  return time_us([&] {
    for (int i = 0; i < count; ++i) launch(grid, block, dynamic_shared, parameters);
  }) / count;
}

double Gpu::time_us(const std::function<void()>& work) {
  CUevent start = nullptr, end = nullptr;
  check(driver_.event_create(&start, CU_EVENT_DEFAULT), "event");
  check(driver_.event_create(&end, CU_EVENT_DEFAULT), "event");
  check(driver_.event_record(start, nullptr), "event");
  work();
  check(driver_.event_record(end, nullptr), "event");
  check(driver_.event_synchronize(end), "running the kernel");
  float milliseconds = 0;
  check(driver_.elapsed(&milliseconds, start, end), "event");
  return milliseconds * 1e3;
}

}  // namespace onelaunch::gpu
