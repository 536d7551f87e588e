#pragma once
// One value to one small floating-point format, by integer arithmetic: the slow path of conversions.

#include <cstdint>

namespace onelaunch::emu::ops {

enum class Direction : std::uint8_t { nearest_even, toward_zero, down, up };

struct FloatFormat {
  int fraction_bits, exponent_bits;
  bool has_infinity;          // e4m3: the top exponent holds numbers, its last code is NaN
  std::uint32_t nan;          // what the GPU writes for NaN
};

constexpr FloatFormat kF16Format = {10, 5, true, 0x7fff};
constexpr FloatFormat kBf16Format = {7, 8, true, 0x7fff};
constexpr FloatFormat kF32Format = {23, 8, true, 0x7fffffff};
constexpr FloatFormat kE4m3Format = {3, 4, false, 0x7f};
constexpr FloatFormat kE5m2Format = {2, 5, true, 0x7f};

// Rounds once. `finite`: values too large become the largest finite number instead of infinity (.satfinite).
std::uint32_t encode(double value, const FloatFormat& format, Direction direction, bool finite);
// The value of a code; exact.
double decode(std::uint32_t code, const FloatFormat& format);

// The integer as a double whose last bits are sticky: exact below 2^53, and rounded right by encode() above.
double sticky_double(std::uint64_t magnitude, bool negative);

}  // namespace onelaunch::emu::ops
