#pragma once
// CUDA source to PTX with the NVRTC of this machine.

#include <string>
#include <vector>

#include "sandbox/worker/nvrtc.h"

namespace onelaunch::tasks {

struct CompiledPtx {
  bool ok = false;
  std::string ptx, log;
};

inline CompiledPtx compile_to_ptx(const worker::Nvrtc& nvrtc, const std::string& source) {
  nvrtcProgram program = nullptr;
  nvrtc.create_program(&program, source.c_str(), "eager.cu", 0, nullptr, nullptr);
  const std::string include = "--include-path=" + nvrtc.include.string();
  const char* options[] = {"--gpu-architecture=compute_90", "--std=c++20", "--generate-line-info", include.c_str()};
  CompiledPtx result;
  result.ok = nvrtc.compile_program(program, 4, options) == NVRTC_SUCCESS;
  std::size_t size = 0;
  nvrtc.log_size(program, &size);
  result.log.resize(size);
  nvrtc.log(program, result.log.data());
  if (result.ok) {
    nvrtc.ptx_size(program, &size);
    result.ptx.resize(size);
    nvrtc.ptx(program, result.ptx.data());
    result.ptx.resize(result.ptx.find('\0'));
  }
  nvrtc.destroy_program(&program);
  return result;
}

}  // namespace onelaunch::tasks
