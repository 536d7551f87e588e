#include "sandbox/cuda/driver.h"

#include <dlfcn.h>

#include <map>

namespace onelaunch::cuda {
namespace {

#define OL_STRING(name) #name
#define OL_SYMBOL(name) OL_STRING(name)  // cuMemCreate stays, cuMemcpyHtoD becomes cuMemcpyHtoD_v2

template <class Function>
bool find(void* library, const char* symbol, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  if (function == nullptr && missing.empty()) missing = symbol;
  return function != nullptr;
}

// What a user can do about it, for the errors that users meet.
const char* advice(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY: return "free memory on the GPU: end other processes, or use a smaller variant";
    case CUDA_ERROR_NO_DEVICE: return "no GPU is visible; CUDA_VISIBLE_DEVICES may hide it";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: return "the kernel module and libcuda are of different versions: reboot or reinstall the driver";
    case CUDA_ERROR_OPERATING_SYSTEM: return "/proc or the device files may be out of reach";
    case CUDA_ERROR_NO_BINARY_FOR_GPU: return "the kernel was compiled for another architecture: name this card's with --target";
    case CUDA_ERROR_DEVICE_UNAVAILABLE: return "another process holds the GPU in exclusive mode";
    case CUDA_ERROR_ECC_UNCORRECTABLE: return "the GPU's memory is failing: do not measure on it";
    default: return "";
  }
}

}  // namespace

Result<Driver> load_driver() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return unavailable("there is no NVIDIA driver on this machine (libcuda.so.1 cannot be loaded); --device emu needs none");
  Driver driver;
  std::string missing;
#define OL_FIND(name) find(library, OL_SYMBOL(name), driver.name, missing);
  OL_DRIVER_FUNCTIONS(OL_FIND)
#undef OL_FIND
  if (!missing.empty())
    return unavailable("the NVIDIA driver is too old: libcuda.so.1 has no " + missing + "; install one for CUDA 12.4 or newer");
  return driver;
}

std::string describe(const Driver& driver, CUresult result, const std::string& call) {
  const char *name = nullptr, *meaning = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &meaning);
  std::string text = call + ": " + (name != nullptr ? name : "error " + std::to_string(result));
  if (meaning != nullptr) text += std::string(" (") + meaning + ")";
  if (const std::string hint = advice(result); !hint.empty()) text += "; " + hint;
  return text;
}

Result<void> check(const Driver& driver, CUresult result, const std::string& call) {
  if (result == CUDA_SUCCESS) return {};
  return unavailable(describe(driver, result, call));
}

}  // namespace onelaunch::cuda
