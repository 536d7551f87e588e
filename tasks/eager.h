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
// Where a layer that chooses finds what it chooses by. The margin of Oracle::margin() is the distance between the k-th
// and the next largest of these logits, as they lie there at the end of a token; infinite if k is all of them.
struct EagerRouting {
  std::string logits;                    // a tensor's name or an EagerBuffer's; only one launch writes it
  DType dtype = DType::f32;
  std::int64_t experts = 0, k = 0;
  std::size_t launches = 0;              // so many of the token's first launches make them
};
struct EagerPlan {
  std::string source;                    // self-contained CUDA C++; needs only cuda_bf16.h
  std::vector<EagerBuffer> buffers;      // intermediates
  std::vector<EagerLaunch> launches;
  std::vector<EagerRouting> routings;    // in the order of the ops
};

// What sums inside an op and other arithmetic are kept in. f32 is what a framework does. With f64 the rounded results
// are nearly always those of the float64 oracle, to the bit; buffers between the kernels of an op stay f32.
enum class EagerSums { f32, f64 };

// Results are the same bits in every run. The source is the same for every capacity, grids and buffers grow with it, and
// one plan serves every position below its capacity.
EagerPlan eager_plan(const Task& task, std::int64_t capacity, EagerSums sums = EagerSums::f32);

}  // namespace onelaunch::tasks
