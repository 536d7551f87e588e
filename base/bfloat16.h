#pragma once
// bfloat16: the upper half of an IEEE binary32, rounded to nearest even; NaN becomes 0x7fff as on the GPU.

#include <bit>
#include <cmath>
#include <cstdint>

namespace onelaunch {

inline float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

inline std::uint16_t float_to_bf16(float value) {
  if (std::isnan(value)) return 0x7fff;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

// A double rounded once to bfloat16. Rounding to odd in binary32 first avoids the double rounding.
inline std::uint16_t double_to_bf16(double value) {
  const float nearest = static_cast<float>(value);
  if (std::isnan(nearest) || std::isinf(nearest) || static_cast<double>(nearest) == value) return float_to_bf16(nearest);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool overshot = std::abs(static_cast<double>(nearest)) > std::abs(value);
  if (overshot) --bits;
  return float_to_bf16(std::bit_cast<float>(bits | 1));
}

}  // namespace onelaunch
