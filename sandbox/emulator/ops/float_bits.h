#pragma once
// Bit-level rules of the GPU's floating point: canonical NaN, flushing, saturation, and the two 16-bit formats.
// Selections are on integers, which the compiler turns into blends.

#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

constexpr u32 kNaN32 = 0x7fffffffu;
constexpr u32 kNaN16 = 0x7fffu;
constexpr u32 kSign32 = 0x80000000u;
constexpr u32 kInfinity32 = 0x7f800000u;
constexpr u64 kNaN64 = 0xfff8000000000000u;

// All ones if a < b, else zero, for numbers below 2^31. Arithmetic instead of conditions: nested conditional operators
// become control flow, which keeps loops from vectorising.
inline u32 below(u32 a, u32 b) { return static_cast<u32>(static_cast<s32>(a - b) >> 31); }
inline u32 pick(u32 mask, u32 yes, u32 no) { return (yes & mask) | (no & ~mask); }

inline u32 bits_of(float value) { return std::bit_cast<u32>(value); }
inline float float_of(u32 bits) { return std::bit_cast<float>(bits); }
inline u64 bits_of(double value) { return std::bit_cast<u64>(value); }
inline double double_of(u64 bits) { return std::bit_cast<double>(bits); }

inline bool is_nan_bits(u32 bits) { return (bits & ~kSign32) > kInfinity32; }
inline u32 nan_mask(u32 bits) { return below(kInfinity32, bits & ~kSign32); }

inline float canonical(float value) {
  const u32 bits = bits_of(value);
  return float_of(is_nan_bits(bits) ? kNaN32 : bits);
}

// Double precision keeps the NaN of an operand, made quiet; only a new NaN is the canonical one.
inline bool is_nan_bits(u64 bits) { return (bits & ~(u64{1} << 63)) > 0x7ff0000000000000u; }
inline double quiet(double value) { return double_of(bits_of(value) | (is_nan_bits(bits_of(value)) ? u64{1} << 51 : 0)); }
inline double new_nan(double value) { return is_nan_bits(bits_of(value)) ? double_of(kNaN64) : value; }
// The NaN of `operand` if it is one, else the result so far.
inline double passing(double operand, double result) { return is_nan_bits(bits_of(operand)) ? quiet(operand) : result; }

// A subnormal becomes zero of its sign.
template <bool ftz>
inline float flushed(float value) {
  if constexpr (!ftz) return value;
  const u32 bits = bits_of(value);
  return float_of(bits & pick(below(bits & ~kSign32, 0x800000u), kSign32, ~0u));
}

// To [0, 1]; NaN and -0 become +0.
template <bool sat>
inline float saturated(float value) {
  if constexpr (!sat) return value;
  const u32 bits = bits_of(value);
  const u32 magnitude = bits & ~kSign32;
  const u32 bounded = pick(below(magnitude, 0x3f800000u), magnitude, 0x3f800000u);
  const u32 zero = nan_mask(bits) | static_cast<u32>(static_cast<s32>(bits) >> 31);
  return float_of(bounded & ~zero);
}

template <bool ftz, bool sat>
inline float finished(float value) {
  return saturated<sat>(flushed<ftz>(canonical(value)));
}

struct Bf16 {
  static constexpr u32 kSignBits = 0x8000, kAbove = 0x7f80;
  static float low(u32 word) { return float_of(word << 16); }
  static float high(u32 word) { return float_of(word & 0xffff0000u); }
  // To nearest even; the result in the low 16 bits.
  static u32 narrow(float value) {
    const u32 bits = bits_of(value);
    const u32 rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return is_nan_bits(bits) ? kNaN16 : rounded;
  }
  // Both results in one word.
  static u32 narrow2(float low, float high) {
    const u32 bits = bits_of(high);
    const u32 rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
    return narrow(low) | (is_nan_bits(bits) ? kNaN16 << 16 : rounded);
  }
};

struct F16 {
  static constexpr u32 kSignBits = 0x8000, kAbove = 0x7c00;
  static float widen(u32 half) {
    const u32 magnitude = half & 0x7fffu;
    const u32 normal = (magnitude << 13) + (112u << 23);
    // A subnormal m * 2^-24 is (2^-14 + m * 2^-24) - 2^-14, all of them normal floats.
    const float small = float_of((magnitude << 13) + (113u << 23)) - float_of(113u << 23);
    const u32 finite = pick(below(magnitude, 0x400u), bits_of(small), normal);
    const u32 special = (below(0x7bffu, magnitude) & kInfinity32) | (below(0x7c00u, magnitude) & kNaN32);
    return float_of(finite | special | (half & 0x8000u) << 16);
  }
  static float low(u32 word) { return widen(word & 0xffffu); }
  static float high(u32 word) { return widen(word >> 16); }
  static u32 narrow(float value) {
    const u32 bits = bits_of(value), magnitude = bits & ~kSign32;
    const u32 normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    // Below 2^-14 the sum with 0.5 rounds to multiples of 2^-24, the unit of subnormal results.
    const u32 small = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    const u32 finite = pick(below(magnitude, 113u << 23), small, normal);
    const u32 bounded = pick(below(magnitude, 0x477ff000u), finite, 0x7c00u) | (bits >> 16 & 0x8000u);
    return pick(nan_mask(bits), kNaN16, bounded);
  }
  static u32 narrow2(float low, float high) { return narrow(low) | narrow(high) << 16; }
};

// Subnormals of a 16-bit format (the exponent field is kAbove) to zero.
template <class Half>
inline u32 flushed_half(u32 half) {
  constexpr u32 kSmallestNormal = Half::kAbove & (0u - Half::kAbove);
  return half & pick(below(half & 0x7fffu, kSmallestNormal), 0x8000u, ~0u);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
