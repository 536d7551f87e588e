#pragma once
// Transcendental functions of one float, in double precision from basic operations only, so that every vector level
// computes the same bits. Their relative error is below 2^-50: rounded to float they are almost always the nearest.

#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

// 2^x.
inline float exp2_of(float x) {
  const float low = x < -160.0f ? -160.0f : x;
  const double bounded = low > 130.0f ? 130.0f : low;
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves the nearest integer in the low bits
  const double shifted = bounded + kShift;
  const double f = bounded - (shifted - kShift);
  // Taylor series of 2^f, |f| <= 1/2: ln(2)^k / k!.
  double p = 1.3691488853904128e-12;
  p = p * f + 2.5678435993488206e-11;
  p = p * f + 4.4455382718708114e-10;
  p = p * f + 7.0549116208011233e-09;
  p = p * f + 1.0178086009239699e-07;
  p = p * f + 1.3215486790144309e-06;
  p = p * f + 1.5252733804059840e-05;
  p = p * f + 1.5403530393381610e-04;
  p = p * f + 1.3333558146428443e-03;
  p = p * f + 9.6181291076284772e-03;
  p = p * f + 5.5504108664821580e-02;
  p = p * f + 2.4022650695910072e-01;
  p = p * f + 6.9314718055994531e-01;
  p = p * f + 1.0;
  const float value = static_cast<float>(double_of(bits_of(p) + (bits_of(shifted) << 52)));
  return float_of(pick(nan_mask(bits_of(x)), kNaN32, bits_of(value)));
}

// log2(x).
inline float log2_of(float x) {
  const u64 bits = bits_of(static_cast<double>(x));
  constexpr u64 kRootHalf = 0x3fe6a09e667f3bcdu, kBias = u64{1024} << 52;
  const u64 exponent = (bits - kRootHalf + kBias) >> 52;                 // biased by 1024
  const double m = double_of(bits - ((exponent << 52) - kBias));         // in [sqrt(1/2), sqrt(2))
  const double e = double_of(0x4330000000000000u | exponent) - (4503599627370496.0 + 1024.0);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  // 2 / ln(2) * atanh(s): the odd series.
  double p = 2.8853900817779268 / 21;
  p = p * z + 2.8853900817779268 / 19;
  p = p * z + 2.8853900817779268 / 17;
  p = p * z + 2.8853900817779268 / 15;
  p = p * z + 2.8853900817779268 / 13;
  p = p * z + 2.8853900817779268 / 11;
  p = p * z + 2.8853900817779268 / 9;
  p = p * z + 2.8853900817779268 / 7;
  p = p * z + 2.8853900817779268 / 5;
  p = p * z + 2.8853900817779268 / 3;
  p = p * z + 2.8853900817779268;
  const u32 number = bits_of(static_cast<float>(e + s * p));
  const u32 source = bits_of(x), magnitude = source & ~kSign32;
  const u32 positive = pick(below(magnitude, kInfinity32), number, kInfinity32);
  const u32 undefined = nan_mask(source) | static_cast<u32>(static_cast<s32>(source) >> 31);
  return float_of(pick(below(magnitude, 1u), 0xff800000u, pick(undefined, kNaN32, positive)));
}

inline float reciprocal_root_of(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
