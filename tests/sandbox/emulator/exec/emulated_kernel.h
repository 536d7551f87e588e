#pragma once
// A CUDA source, compiled by NVRTC and run on the emulated device, with buffers of u32 words.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/emulator/device.h"

namespace onelaunch::emu {

class EmulatedKernel {
 public:
  // `source` defines extern "C" __global__ void kernel(...). Adds a gtest failure with the log when it does not compile.
  explicit EmulatedKernel(const std::string& source);

  std::uint64_t buffer(std::vector<std::uint32_t> words, const std::string& name = "buffer", bool read_only = false);
  std::uint64_t undefined_buffer(std::size_t words, const std::string& name);
  std::vector<std::uint32_t> words(std::uint64_t buffer);
  Device& device() { return device_; }

  // Parameters are 8 bytes each: pointers or 64-bit integers.
  LaunchReport run(LaunchShape shape, const std::vector<std::uint64_t>& parameters, const LaunchOptions& options = {});
  LaunchReport run(unsigned grid, unsigned block, const std::vector<std::uint64_t>& parameters) {
    return run(LaunchShape{.grid = grid, .block = block}, parameters);
  }

 private:
  Device device_;
  std::shared_ptr<LoadedModule> module_;
};

// One fault of this kind whose message holds `text`; adds a gtest failure with what came instead.
void expect_fault(const LaunchReport& report, Fault::Kind kind, const std::string& text);
void expect_no_fault(const LaunchReport& report);

}  // namespace onelaunch::emu
