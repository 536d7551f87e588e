#pragma once
// binary16 for atomics: to float and back, to nearest even, NaN as 0x7fff. Not fast, and need not be.

#include <bit>
#include <cmath>
#include <cstdint>

namespace onelaunch::emu {

inline float half_to_float(std::uint16_t bits) {
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? std::bit_cast<float>(0x7fffffffu) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

inline std::uint16_t double_to_half(double value) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520.0) return sign | 0x7c00;
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  // Units of the last place; nearbyint rounds to even, and a carry runs over into the exponent by itself.
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign + (static_cast<std::uint32_t>(exponent + 14) << 10) + units);
}

}  // namespace onelaunch::emu
