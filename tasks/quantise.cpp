#include "tasks/quantise.h"

#include <algorithm>

#include "base/bfloat16.h"
#include "base/check.h"

namespace onelaunch::tasks {
namespace {

constexpr std::int64_t kColumnsMax = 64;

using PerColumn = float[kColumnsMax];

// rint() clamped to 0..15, in a form that compilers vectorise: adding 1.5 * 2^23 rounds to an integer, half to even.
inline float round_to_nibble(float value) {
  constexpr float kRounder = 12582912.0f;
  const float bounded = std::min(std::max(value, 0.0f), 15.0f);
  return (bounded + kRounder) - kRounder;
}

void scales_and_zeros(const float* values, std::int64_t columns, PerColumn& scale, PerColumn& zero) {
  PerColumn low{}, high{};
  for (std::int64_t c = 0; c < columns; ++c) low[c] = high[c] = values[c];
  for (std::int64_t row = 1; row < kQuantGroup; ++row) {
    const float* line = values + row * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      low[c] = std::min(low[c], line[c]);
      high[c] = std::max(high[c], line[c]);
    }
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    const float width = high[c] - low[c];
    scale[c] = std::max(width, 1e-8f) / 15.0f;
    zero[c] = round_to_nibble(-low[c] / scale[c]);
  }
}

}  // namespace

void quantise_group(const float* values, std::int64_t columns, QuantisedRows out) {
  OL_CHECK(columns <= kColumnsMax, "too many columns at once");
  PerColumn scale, zero;
  scales_and_zeros(values, columns, scale, zero);
  for (std::int64_t pair = 0; pair < kQuantGroup / 2; ++pair) {
    const float* even = values + 2 * pair * columns;
    const float* odd = even + columns;
    std::uint8_t* packed = out.packed + pair * out.stride;
    for (std::int64_t c = 0; c < columns; ++c) {
      const int low = static_cast<int>(round_to_nibble(even[c] / scale[c] + zero[c]));
      const int high = static_cast<int>(round_to_nibble(odd[c] / scale[c] + zero[c]));
      packed[c] = static_cast<std::uint8_t>(low | high << 4);
    }
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    out.scale[c] = float_to_bf16(scale[c]);
    out.zero[c] = float_to_bf16(zero[c]);
  }
}

}  // namespace onelaunch::tasks
