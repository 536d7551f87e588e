#include "sandbox/emulator/ops/encode.h"

#include <bit>
#include <cmath>
#include <limits>

namespace onelaunch::emu::ops {
namespace {

// Whether the magnitude goes up, given its last kept bit and what is cut off relative to half a unit.
bool rounds_up(Direction direction, bool negative, bool odd, int cut_versus_half, bool inexact) {
  switch (direction) {
    case Direction::nearest_even: return cut_versus_half > 0 || (cut_versus_half == 0 && odd);
    case Direction::toward_zero: return false;
    case Direction::down: return negative && inexact;
    default: return !negative && inexact;
  }
}

std::uint32_t largest_finite(const FloatFormat& format) {
  const std::uint32_t top = ((1u << format.exponent_bits) - 1u) << format.fraction_bits;
  return format.has_infinity ? top - 1u : (top | ((1u << format.fraction_bits) - 1u)) - 1u;
}

std::uint32_t overflowed(const FloatFormat& format, Direction direction, bool negative, bool finite) {
  const bool stays = direction == Direction::toward_zero || (direction == Direction::down && !negative) ||
                     (direction == Direction::up && negative);
  if (finite || stays) return largest_finite(format);
  return format.has_infinity ? ((1u << format.exponent_bits) - 1u) << format.fraction_bits : format.nan;
}

}  // namespace

std::uint32_t encode(double value, const FloatFormat& format, Direction direction, bool finite) {
  if (std::isnan(value)) return format.nan;
  const bool negative = std::signbit(value);
  const std::uint32_t sign = negative ? 1u << (format.fraction_bits + format.exponent_bits) : 0u;
  if (value == 0) return sign;
  if (std::isinf(value)) {
    const Direction outward = negative ? Direction::down : Direction::up;
    return sign | overflowed(format, outward, negative, finite);
  }
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent;
  const double fraction = std::frexp(std::fabs(value), &exponent);      // in [1/2, 1)
  const std::uint64_t significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const int leading = exponent - 1;                                     // of the first bit
  const int unit = (leading < 1 - bias ? 1 - bias : leading) - format.fraction_bits;  // exponent of the last kept bit
  int shift = unit - (exponent - 53);
  if (shift > 63) shift = 63;                                           // everything is cut, below half a unit
  const std::uint64_t kept = significand >> shift, cut = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const int versus_half = cut == half ? 0 : cut > half ? 1 : -1;
  const std::uint64_t rounded = kept + rounds_up(direction, negative, kept & 1, versus_half, cut != 0);
  // Adding the fraction to the exponent field lets a carry move on to the next exponent.
  const std::int64_t field = leading < 1 - bias ? 0 : leading + bias - 1;
  const std::uint64_t code = (static_cast<std::uint64_t>(field) << format.fraction_bits) + rounded;
  if (code > largest_finite(format)) return sign | overflowed(format, direction, negative, finite);
  return sign | static_cast<std::uint32_t>(code);
}

double decode(std::uint32_t code, const FloatFormat& format) {
  const std::uint32_t fraction = code & ((1u << format.fraction_bits) - 1u);
  const std::uint32_t top = (1u << format.exponent_bits) - 1u;
  const std::uint32_t field = code >> format.fraction_bits & top;
  const bool negative = code >> (format.fraction_bits + format.exponent_bits) & 1u;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  double value;
  if (format.has_infinity && field == top) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (!format.has_infinity && (code & ((1u << (format.fraction_bits + format.exponent_bits)) - 1u)) ==
                                         largest_finite(format) + 1u) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    value = std::ldexp(static_cast<double>(fraction), 1 - bias - format.fraction_bits);
  } else {
    value = std::ldexp(static_cast<double>(fraction | 1u << format.fraction_bits),
                       static_cast<int>(field) - bias - format.fraction_bits);
  }
  return negative ? -value : value;
}

double sticky_double(std::uint64_t magnitude, bool negative) {
  std::uint64_t kept = magnitude;
  if (magnitude >> 53 != 0) {
    kept = magnitude >> 11 << 11;
    if (kept != magnitude) kept |= std::uint64_t{1} << 11;
  }
  const double value = static_cast<double>(kept);
  return negative ? -value : value;
}

}  // namespace onelaunch::emu::ops
