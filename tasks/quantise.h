#pragma once
// The int4 quantiser of tasks/FORMAT.md: groups of 128 along `in`, in f32.

#include <cstddef>
#include <cstdint>

namespace onelaunch::tasks {

constexpr std::int64_t kQuantGroup = 128;

// One group of rows of a matrix: 128 x `columns` values, row-major, to 64 x columns bytes and a scale and a zero (bf16)
// per column. Rows of the outputs lie `stride` elements apart.
struct QuantisedRows {
  std::uint8_t* packed;
  std::uint16_t* scale;
  std::uint16_t* zero;
  std::int64_t stride;
};
void quantise_group(const float* values, std::int64_t columns, QuantisedRows out);

}  // namespace onelaunch::tasks
