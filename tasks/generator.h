#pragma once
// Every tensor's values from a seed, bit-equal everywhere. Philox4x32-10 with key = seed and counter =
// (tensor id, element / 8, stream) gives eight 16-bit halves a call; each indexes a table of 65,536 f32 normal
// quantiles at (i + 0.5) / 65536. tasks/FORMAT.md has the details.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::tasks {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);
std::span<const float, 65536> normal_quantiles();

// Weights live in one arena, each at a multiple of kWeightAlignment, in task order.
constexpr std::size_t kWeightAlignment = 65536;
struct WeightArena {
  struct Place { const Tensor* tensor; std::size_t offset, bytes; };
  std::vector<Place> places;
  std::size_t bytes = 0;
};
WeightArena weight_arena(const Task& task);  // borrows the task

void fill_weights(const Task& task, std::uint64_t seed, InputSet set, std::span<std::byte> arena, int threads);

// One state or input tensor. Rows of a cache from `context` on are zero.
void fill_tensor(const Task& task, const Tensor& tensor, std::uint64_t seed, InputSet set, std::int64_t context,
                 std::span<std::byte> out);

// The input of one step; `draw` counts the tries until the routing margin suffices (tasks/oracle.h).
void fill_token(const Task& task, const Tensor& input, std::uint64_t seed, InputSet set, int step, int draw,
                std::span<std::byte> out);

}  // namespace onelaunch::tasks
