#pragma once
// Rounding to odd: a value that is not exact gets an odd last bit, so that rounding it again, to at least two bits
// less, gives what rounding once would have given.

#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

// a + b.
inline double odd_sum(double a, double b) {
  const double sum = a + b;
  const double other = sum - a;
  const double error = (a - (sum - other)) + (b - other);
  const u64 bits = bits_of(sum);
  if (!(error != 0) || (bits & 1) || error != error) return sum;
  const bool too_small = (bits_of(error) >> 63) == (bits >> 63);
  return double_of(too_small ? bits + 1 : bits - 1);
}

inline float odd_sum(float a, float b) {
  const float sum = a + b;
  const float other = sum - a;
  const float error = (a - (sum - other)) + (b - other);
  const u32 bits = bits_of(sum), rest = bits_of(error), magnitude = rest & ~kSign32;
  // The error is a number other than zero, and the last bit is even: then one up or down.
  const u32 change = below(0u, magnitude) & below(magnitude, kInfinity32) & ~bits & 1u;
  const u32 opposite = static_cast<u32>(static_cast<s32>(rest ^ bits) >> 31);
  return float_of(bits + ((change ^ opposite) - opposite));
}

inline float odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (value != value || back == value || (bits_of(nearest) & 1)) return nearest;
  const double magnitude = __builtin_fabs(value), rounded = __builtin_fabs(back);
  // An overflow stops at the largest float, which is odd.
  return float_of(rounded > magnitude ? bits_of(nearest) - 1 : bits_of(nearest) + 1);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
