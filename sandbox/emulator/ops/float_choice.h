#pragma once
// min and max of floating point as the GPU does them: -0 is below +0, a NaN loses against a number unless .NaN.

#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

// Orders numbers as integers, -0 below +0.
inline s32 order_key(u32 bits) { return static_cast<s32>(bits ^ (static_cast<u32>(static_cast<s32>(bits) >> 31) >> 1)); }
inline u32 bits_of_key(s32 key) { return static_cast<u32>(key ^ static_cast<s32>(static_cast<u32>(key >> 31) >> 1)); }

template <bool maximum, bool keep_nan, bool xorsign>
struct Choice {
  static float choose(float first, float second) {
    const u32 x = bits_of(first), y = bits_of(second);
    const u32 a = xorsign ? x & ~kSign32 : x, b = xorsign ? y & ~kSign32 : y;
    const s32 first_key = order_key(a), second_key = order_key(b);
    const s32 smaller = first_key < second_key ? first_key : second_key;
    const s32 larger = first_key > second_key ? first_key : second_key;
    const u32 number = bits_of_key(maximum ? larger : smaller);
    const u32 a_nan = nan_mask(a), b_nan = nan_mask(b);
    const u32 without_nan = pick(b_nan, a, pick(a_nan, b, number));
    const u32 sign = xorsign ? (x ^ y) & kSign32 : 0u;
    return float_of(pick(keep_nan ? a_nan | b_nan : a_nan & b_nan, kNaN32, without_nan | sign));
  }
};

}  // namespace onelaunch::emu::OL_OPS_LEVEL
