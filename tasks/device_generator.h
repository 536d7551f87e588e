#pragma once
// Weights and states made on a device, with the bits of tasks/generator.h: kernels in CUDA C++ and how to launch them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::tasks {

// Self-contained CUDA C++20 for NVRTC, the same for every task, seed and input set: one module serves all. It needs no
// option beyond the language; -ffast-math and its parts would change bits.
std::string generator_source();

// What the table buffer holds, 256 KiB: normal_quantiles() as f32.
std::span<const std::byte> generator_table();

// One kernel parameter of 8 bytes.
struct GeneratorArgument {
  enum class Kind { tensor, table, seed, literal };
  Kind kind = Kind::literal;
  std::string tensor;         // kind tensor: whose first byte it points to, at a multiple of 16
  std::uint64_t literal = 0;  // kind literal
};
struct GeneratorLaunch {
  std::string entry;
  unsigned grid = 1, block = 1;
  std::size_t dynamic_smem = 0;  // bytes; above 48 KiB the device must be asked for them
  std::vector<GeneratorArgument> arguments;
};

// What the kernels may use; those of an H200 by default. Devices with less shared memory draw int4 weights slowly.
struct GeneratorDevice {
  unsigned sms = 132;
  std::size_t shared_per_block = 227 << 10;  // bytes, with the opt-in
};

// Fills every weight, as fill_weights() does. Launches are independent of each other.
std::vector<GeneratorLaunch> weight_launches(const Task& task, InputSet set, const GeneratorDevice& device = {});

// Fills one state, input or plain weight of tensor.bytes(capacity), as fill_tensor() does: rows of a cache from
// `context` on are zero.
GeneratorLaunch tensor_launch(const Task& task, const Tensor& tensor, InputSet set, std::int64_t context,
                              std::int64_t capacity);

}  // namespace onelaunch::tasks
