#include "sandbox/cuda/handles.h"

namespace onelaunch::cuda {

Result<Module> Module::load(const Driver& driver, const std::string& cubin) {
  CUmodule module = nullptr;
  if (auto done = check(driver, driver.cuModuleLoadData(&module, cubin.data()), "cuModuleLoadData"); !done)
    return because(done.error());
  return Module(driver, module);
}

Result<CUfunction> Module::function(const std::string& entry) const {
  const Driver& driver = *handle_.get_deleter().driver;
  CUfunction function = nullptr;
  if (auto done = check(driver, driver.cuModuleGetFunction(&function, handle_.get(), entry.c_str()), "cuModuleGetFunction " + entry); !done)
    return because(done.error());
  return function;
}

Result<std::vector<std::string>> Module::entries() const {
  const Driver& driver = *handle_.get_deleter().driver;
  unsigned count = 0;
  if (auto done = check(driver, driver.cuModuleGetFunctionCount(&count, handle_.get()), "cuModuleGetFunctionCount"); !done)
    return because(done.error());
  std::vector<CUfunction> functions(count);
  if (auto done = check(driver, driver.cuModuleEnumerateFunctions(functions.data(), count, handle_.get()), "cuModuleEnumerateFunctions"); !done)
    return because(done.error());
  std::vector<std::string> names;
  for (const CUfunction function : functions) {
    const char* name = nullptr;
    if (driver.cuFuncGetName(&name, function) == CUDA_SUCCESS && name != nullptr) names.emplace_back(name);
  }
  return names;
}

Result<Event> Event::create(const Driver& driver) {
  CUevent event = nullptr;
  if (auto done = check(driver, driver.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate"); !done)
    return because(done.error());
  return Event(driver, event);
}

Result<Stream> Stream::create(const Driver& driver) {
  CUstream stream = nullptr;
  if (auto done = check(driver, driver.cuStreamCreate(&stream, CU_STREAM_DEFAULT), "cuStreamCreate"); !done)
    return because(done.error());
  return Stream(driver, stream);
}

Result<HostMemory> HostMemory::create(const Driver& driver, std::size_t bytes) {
  void* memory = nullptr;
  if (auto done = check(driver, driver.cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc"); !done)
    return because(done.error());
  return HostMemory(driver, memory);
}

Result<CUdeviceptr> HostMemory::address() const {
  CUdeviceptr address = 0;
  if (auto done = check(*driver_, driver_->cuMemHostGetDevicePointer(&address, handle_.get(), 0), "cuMemHostGetDevicePointer"); !done)
    return because(done.error());
  return address;
}

}  // namespace onelaunch::cuda
