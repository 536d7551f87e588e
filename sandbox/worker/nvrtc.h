#pragma once
// The functions of libnvrtc that we use, found with dlopen.

#include <nvrtc.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace onelaunch::worker {

struct Nvrtc {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create_program = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&::nvrtcCompileProgram) compile_program = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&::nvrtcGetPTX) ptx = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;

  std::filesystem::path include;        // of the CUDA Toolkit: holds cuda_bf16.h
  std::string version_text;             // "13.0"

  // $CUDA_HOME, /usr/local/cuda, then the loader's own search. Fails (unavailable) saying what is missing and where
  // we looked. Once per process: the library stays loaded.
  static Result<Nvrtc> load();
};

}  // namespace onelaunch::worker
