#pragma once
// The eager baseline: one CUDA kernel per op, int4 weights dequantised to memory first, as PyTorch eager does.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::tasks {

struct EagerArgument {
  enum class Kind { buffer, position, capacity };
  Kind kind;
  std::string buffer;  // a tensor's name or an EagerBuffer's
};
struct EagerBuffer {
  std::string name;
  std::size_t bytes;
};
struct EagerLaunch {
  std::string op, entry;
  unsigned grid, block, dynamic_smem;
  std::vector<EagerArgument> arguments;  // kernel parameters in order, each 8 bytes: a pointer or a long long
};
// Where a routed layer's logits lie once its launches have run.
struct EagerRouting {
  std::string logits;                    // a tensor's name or an EagerBuffer's
  DType dtype = DType::f32;
  std::int64_t experts = 0, k = 0;
};
struct EagerPlan {
  std::string source;                    // self-contained CUDA C++; needs only cuda_bf16.h
  std::vector<EagerBuffer> buffers;      // intermediates
  std::vector<EagerLaunch> launches;
  std::vector<EagerRouting> routings;    // in the order of the ops
};
EagerPlan eager_plan(const Task& task, std::int64_t context, std::int64_t capacity);

}  // namespace onelaunch::tasks
