#include "sandbox/worker/compile.h"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "sandbox/worker/cubin.h"
#include "sandbox/worker/shims.h"

namespace onelaunch::worker {
namespace {

using sandbox::CompileJob;
using sandbox::CompileReply;

// Owns the program handle.
class Program {
 public:
  explicit Program(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle_ != nullptr) nvrtc_.destroy_program(&handle_);
  }

  nvrtcResult create(const CompileJob& job) {
    std::vector<const char*> names, texts;
    for (const Shim& shim : shims()) names.push_back(shim.name), texts.push_back(shim.text);
    names.push_back("onelaunch.cuh");
    texts.push_back(job.header.c_str());
    return nvrtc_.create_program(&handle_, job.source.c_str(), "kernel.cu", static_cast<int>(names.size()), texts.data(),
                                 names.data());
  }
  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtc_.compile_program(handle_, static_cast<int>(words.size()), words.data());
  }
  std::string log() const { return text(nvrtc_.log_size, nvrtc_.log, true); }
  std::string ptx() const { return text(nvrtc_.ptx_size, nvrtc_.ptx, true); }
  std::string cubin() const { return text(nvrtc_.cubin_size, nvrtc_.cubin, false); }

 private:
  template <class Size, class Get>
  std::string text(Size size, Get get, bool terminated) const {
    std::size_t bytes = 0;
    if (size(handle_, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
    std::string content(bytes, '\0');
    if (get(handle_, content.data()) != NVRTC_SUCCESS) return {};
    if (terminated) content.resize(std::min(content.find('\0'), content.size()));
    return content;
  }
  const Nvrtc& nvrtc_;
  nvrtcProgram handle_ = nullptr;
};

std::vector<std::string> options_of(const CompileJob& job, const std::filesystem::path& include) {
  std::vector<std::string> options = job.options;
  options.push_back("--pre-include=" + std::string(kPreludeName));
  options.push_back("--include-path=" + include.string());
  options.push_back("--include-path=" + (include / "cccl").string());
  options.emplace_back("--device-as-default-execution-space");
  options.emplace_back("--generate-line-info");
  options.emplace_back("--ptxas-options=-v");
  return options;
}

// Beginning and end of a log that is too long.
std::string capped(std::string log, std::size_t bytes_max) {
  if (log.size() <= bytes_max) return log;
  const std::size_t half = bytes_max / 2;
  return log.substr(0, half) + "\n... " + std::to_string(log.size() - 2 * half) + " bytes left out ...\n" +
         log.substr(log.size() - half);
}

CompileReply compile_or_throw(const Nvrtc& nvrtc, const std::filesystem::path& include, const CompileJob& job) {
  CompileReply reply;
  Program program(nvrtc);
  nvrtcResult result = program.create(job);
  if (result == NVRTC_SUCCESS) result = program.compile(options_of(job, include));
  reply.log = program.log();
  if (result == NVRTC_ERROR_OUT_OF_MEMORY) {
    reply.status = CompileReply::Status::out_of_memory;
  } else if (result == NVRTC_ERROR_COMPILATION) {
    reply.status = CompileReply::Status::failed;
  } else if (result == NVRTC_ERROR_INVALID_OPTION || result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE ||
             result == NVRTC_ERROR_PROGRAM_CREATION_FAILURE) {
    reply.status = CompileReply::Status::unavailable;
    reply.how = std::string(nvrtc.error_string(result)) + ": " + reply.log;
  } else if (result != NVRTC_SUCCESS) {
    reply.status = CompileReply::Status::crashed;
    reply.how = nvrtc.error_string(result);
  } else {
    reply.status = CompileReply::Status::compiled;
    reply.ptx = program.ptx();
    reply.cubin = program.cubin();
    if (auto entries = cubin_resources(reply.cubin)) reply.entries = std::move(*entries);
  }
  reply.log = take_ptxas_report(reply.log, reply.entries);
  return reply;
}

}  // namespace

CompileReply compile(const Nvrtc& nvrtc, const std::filesystem::path& include, const CompileJob& job) {
  CompileReply reply;
  try {
    reply = compile_or_throw(nvrtc, include, job);
  } catch (const std::bad_alloc&) {
    reply = {};
    reply.status = CompileReply::Status::out_of_memory;
  }
  reply.log = capped(std::move(reply.log), job.limits.log_bytes);
  return reply;
}

}  // namespace onelaunch::worker
