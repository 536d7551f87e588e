#pragma once
// A candidate's source to PTX with the NVRTC of this machine.

#include <string>
#include <vector>

#include "sandbox/worker/nvrtc.h"
#include "tasks/header.h"

namespace onelaunch::tasks {

struct CompiledCandidate {
  bool ok = false;
  std::string ptx, log;
};

inline CompiledCandidate compile_candidate(const worker::Nvrtc& nvrtc, const Task& task, const std::string& source,
                                           const std::string& target, std::vector<std::string> options) {
  const std::string header = candidate_header(task);
  const char* text = header.c_str();
  const char* name = "onelaunch.cuh";
  nvrtcProgram program = nullptr;
  nvrtc.create_program(&program, source.c_str(), "kernel.cu", 1, &text, &name);
  options.insert(options.end(), {"--gpu-architecture=" + target, "--std=c++20", "--device-as-default-execution-space",
                                 "--generate-line-info", "--include-path=" + nvrtc.include.string()});
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  CompiledCandidate result;
  result.ok = nvrtc.compile_program(program, static_cast<int>(words.size()), words.data()) == NVRTC_SUCCESS;
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
