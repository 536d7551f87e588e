#include "sandbox/worker/nvrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <system_error>
#include <vector>

namespace onelaunch::worker {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') roots.emplace_back(value);
  roots.emplace_back("/usr/local/cuda");
  return roots;
}

void* open_library() {
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    for (const fs::path& root : toolkit_roots())
      for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
        if (void* handle = ::dlopen((root / folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

// The header tree: under a toolkit root, or beside the library that was loaded.
fs::path find_include(const void* symbol) {
  std::vector<fs::path> folders;
  for (const fs::path& root : toolkit_roots()) {
    folders.push_back(root / "include");
    folders.push_back(root / "targets/x86_64-linux/include");
  }
  std::error_code ignored;
  Dl_info info{};
  if (::dladdr(symbol, &info) != 0) folders.push_back(fs::path(info.dli_fname).parent_path() / "../include");
  folders.emplace_back("/usr/include");
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "cuda_bf16.h", ignored)) return fs::canonical(folder, ignored);
  return {};
}

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Nvrtc& nvrtc) {
  return find(library, "nvrtcVersion", nvrtc.version) && find(library, "nvrtcGetErrorString", nvrtc.error_string) &&
         find(library, "nvrtcCreateProgram", nvrtc.create_program) &&
         find(library, "nvrtcDestroyProgram", nvrtc.destroy_program) &&
         find(library, "nvrtcCompileProgram", nvrtc.compile_program) &&
         find(library, "nvrtcGetProgramLogSize", nvrtc.log_size) && find(library, "nvrtcGetProgramLog", nvrtc.log) &&
         find(library, "nvrtcGetPTXSize", nvrtc.ptx_size) && find(library, "nvrtcGetPTX", nvrtc.ptx) &&
         find(library, "nvrtcGetCUBINSize", nvrtc.cubin_size) && find(library, "nvrtcGetCUBIN", nvrtc.cubin);
}

}  // namespace

Result<Nvrtc> Nvrtc::load() {
  void* library = open_library();
  if (library == nullptr)
    return unavailable("libnvrtc.so.13 or .12 not found in $CUDA_HOME, /usr/local/cuda or the loader's path: install the "
                       "CUDA Toolkit (12.4 or later) or set CUDA_HOME");
  Nvrtc nvrtc;
  if (!find_all(library, nvrtc)) return unavailable("libnvrtc lacks a function that we need: use CUDA 12.4 or later");
  nvrtc.include = find_include(reinterpret_cast<const void*>(nvrtc.version));
  if (nvrtc.include.empty())
    return unavailable("cuda_bf16.h not found under $CUDA_HOME/include or /usr/local/cuda/include: install the headers of "
                       "the CUDA Toolkit or set CUDA_HOME");
  int major = 0, minor = 0;
  nvrtc.version(&major, &minor);
  nvrtc.version_text = std::to_string(major) + "." + std::to_string(minor);
  return nvrtc;
}

}  // namespace onelaunch::worker
