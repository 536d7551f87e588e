#include "tests/sandbox/emulator/exec/emulated_kernel.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sandbox/worker/nvrtc.h"

namespace onelaunch::emu {
namespace {

std::string compile(const std::string& source) {
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  if (!nvrtc) {
    ADD_FAILURE() << nvrtc.error().message;
    return {};
  }
  nvrtcProgram program = nullptr;
  nvrtc->create_program(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  const std::string include = "--include-path=" + nvrtc->include.string();
  const std::string cccl = include + "/cccl";
  const char* options[] = {"--gpu-architecture=sm_90a", "--std=c++20", "--generate-line-info",
                           "--device-as-default-execution-space", include.c_str(), cccl.c_str()};
  const bool ok = nvrtc->compile_program(program, std::size(options), options) == NVRTC_SUCCESS;
  std::size_t size = 0;
  (ok ? nvrtc->ptx_size : nvrtc->log_size)(program, &size);
  std::string text(size, '\0');
  (ok ? nvrtc->ptx : nvrtc->log)(program, text.data());
  nvrtc->destroy_program(&program);
  text.resize(std::strlen(text.c_str()));
  if (ok) return text;
  ADD_FAILURE() << text;
  return {};
}

std::string all_faults(const LaunchReport& report) {
  std::string text;
  for (const Fault& fault : report.faults) text += fault.message + "\n";
  return text;
}

}  // namespace

EmulatedKernel::EmulatedKernel(const std::string& source) : device_(h200_profile()) {
  const std::string ptx = compile(source);
  if (ptx.empty()) return;
  Result<std::shared_ptr<LoadedModule>> module = device_.load(ptx);
  if (module) module_ = std::move(*module);
  else ADD_FAILURE() << module.error().message;
}

std::uint64_t EmulatedKernel::buffer(std::vector<std::uint32_t> words, const std::string& name, bool read_only) {
  const std::uint64_t address = device_.allocate({.name = name, .bytes = words.size() * 4, .read_only = read_only}).value();
  std::memcpy(device_.bytes(address).data(), words.data(), words.size() * 4);
  return address;
}

std::uint64_t EmulatedKernel::undefined_buffer(std::size_t words, const std::string& name) {
  return device_.allocate({.name = name, .bytes = words * 4, .undefined = true}).value();
}

std::vector<std::uint32_t> EmulatedKernel::words(std::uint64_t buffer) {
  const std::span<const std::byte> bytes = device_.bytes(buffer);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

LaunchReport EmulatedKernel::run(LaunchShape shape, const std::vector<std::uint64_t>& parameters, const LaunchOptions& options) {
  if (!module_) return {};
  Result<LaunchReport> report = device_.launch(*module_, "kernel", shape, std::as_bytes(std::span(parameters)), options);
  if (report) return std::move(*report);
  ADD_FAILURE() << report.error().message;
  return {};
}

void expect_fault(const LaunchReport& report, Fault::Kind kind, const std::string& text) {
  for (const Fault& fault : report.faults)
    if (fault.kind == kind && fault.message.find(text) != std::string::npos) return;
  ADD_FAILURE() << "no fault with \"" << text << "\" among:\n" << all_faults(report);
}

void expect_no_fault(const LaunchReport& report) { EXPECT_TRUE(report.faults.empty()) << all_faults(report); }

}  // namespace onelaunch::emu
