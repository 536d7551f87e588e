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

inline u32 bits_of(float value) { return std::bit_cast<u32>(value); }
inline float float_of(u32 bits) { return std::bit_cast<float>(bits); }
inline u64 bits_of(double value) { return std::bit_cast<u64>(value); }
inline double double_of(u64 bits) { return std::bit_cast<double>(bits); }

inline bool is_nan_bits(u32 bits) { return (bits & ~kSign32) > kInfinity32; }

inline float canonical(float value) {
  const u32 bits = bits_of(value);
  return float_of(is_nan_bits(bits) ? kNaN32 : bits);
}
inline double canonical(double value) {
  const u64 bits = bits_of(value);
  return double_of((bits & ~(u64{1} << 63)) > 0x7ff0000000000000u ? kNaN64 : bits);
}

// A subnormal becomes zero of its sign.
template <bool ftz>
inline float flushed(float value) {
  if constexpr (!ftz) return value;
  const u32 bits = bits_of(value);
  return float_of((bits & kInfinity32) == 0 ? bits & kSign32 : bits);
}

// To [0, 1]; NaN and -0 become +0. As integers, values that are not negative compare like floats.
template <bool sat>
inline float saturated(float value) {
  if constexpr (!sat) return value;
  const u32 bits = bits_of(value);
  const u32 below = bits > 0x3f800000u ? 0x3f800000u : bits;
  return float_of(bits > kInfinity32 ? 0u : below);
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
    const u32 finite = magnitude < 0x400u ? bits_of(small) : normal;
    const u32 special = magnitude == 0x7c00u ? kInfinity32 : kNaN32;
    return float_of((magnitude >= 0x7c00u ? special : finite) | (half & 0x8000u) << 16);
  }
  static float low(u32 word) { return widen(word & 0xffffu); }
  static float high(u32 word) { return widen(word >> 16); }
  static u32 narrow(float value) {
    const u32 bits = bits_of(value), magnitude = bits & ~kSign32;
    const u32 normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    // Below 2^-14 the sum with 0.5 rounds to multiples of 2^-24, the unit of subnormal results.
    const u32 small = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    const u32 finite = magnitude < (113u << 23) ? small : normal;
    const u32 bounded = magnitude >= 0x477ff000u ? 0x7c00u : finite;
    return magnitude > kInfinity32 ? kNaN16 : bounded | (bits >> 16 & 0x8000u);
  }
  static u32 narrow2(float low, float high) { return narrow(low) | narrow(high) << 16; }
};

// Subnormals of a 16-bit format (the exponent field is kAbove) to zero.
template <class Half>
inline u32 flushed_half(u32 half) {
  return (half & Half::kAbove) == 0 ? half & 0x8000u : half;
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
