#pragma once
// min and max of floating point as the GPU does them: -0 is below +0, a NaN loses against a number unless .NaN.

#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

// Orders numbers as integers, -0 below +0.
inline s32 order_key(u32 bits) { return static_cast<s32>(bits ^ (static_cast<u32>(static_cast<s32>(bits) >> 31) >> 1)); }

template <bool maximum, bool keep_nan, bool xorsign>
struct Choice {
  static float choose(float first, float second) {
    const u32 x = bits_of(first), y = bits_of(second);
    const u32 a = xorsign ? x & ~kSign32 : x, b = xorsign ? y & ~kSign32 : y;
    const bool take_a = maximum ? order_key(a) > order_key(b) : order_key(a) < order_key(b);
    const u32 number = take_a ? a : b;
    const u32 without_a = is_nan_bits(a) ? b : number;
    const u32 without_nan = is_nan_bits(b) ? a : without_a;
    const u32 nan = keep_nan ? (is_nan_bits(a) || is_nan_bits(b)) : (is_nan_bits(a) && is_nan_bits(b));
    const u32 sign = xorsign ? (x ^ y) & kSign32 : 0u;
    return float_of(nan ? kNaN32 : without_nan | sign);
  }
};

}  // namespace onelaunch::emu::OL_OPS_LEVEL
