#pragma once
// The 16-bit formats with what modifiers add to them: .ftz, .sat, .relu. Same members as F16 and Bf16.

#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

template <class Half>
struct Flushing : Half {
  static float low(u32 word) { return Half::low(flushed_half<Half>(word & 0xffffu)); }
  static float high(u32 word) { return Half::low(flushed_half<Half>(word >> 16)); }
  static u32 narrow(float value) { return flushed_half<Half>(Half::narrow(value)); }
  static u32 narrow2(float low, float high) { return narrow(low) | narrow(high) << 16; }
};

template <class Half>
struct Saturating : Half {
  static u32 narrow(float value) { return Half::narrow(saturated<true>(value)); }
  static u32 narrow2(float low, float high) {
    return Half::narrow2(saturated<true>(low), saturated<true>(high));
  }
};

// Negative numbers become +0; NaN stays.
inline float rectified(float value) {
  const u32 bits = bits_of(value);
  return float_of(bits & (~static_cast<u32>(static_cast<s32>(bits) >> 31) | nan_mask(bits)));
}

template <class Half>
struct Rectified : Half {
  static u32 narrow(float value) { return Half::narrow(rectified(value)); }
  static u32 narrow2(float low, float high) { return Half::narrow2(rectified(low), rectified(high)); }
};

// Fns<Half, pair>::fns() for the type and the modifiers that the instruction has.
template <template <class, bool> class Fns>
OpFns half_fns(ops::Type type, Modifiers& modifiers) {
  using ops::Type;
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  const bool relu = modifiers.take("relu");
  if (type == Type::bf16 || type == Type::bf16x2) {
    if (relu) return pair ? Fns<Rectified<Bf16>, true>::fns() : Fns<Rectified<Bf16>, false>::fns();
    return pair ? Fns<Bf16, true>::fns() : Fns<Bf16, false>::fns();
  }
  const bool ftz = modifiers.take("ftz");
  if (relu) {
    if (ftz) return pair ? Fns<Rectified<Flushing<F16>>, true>::fns() : Fns<Rectified<Flushing<F16>>, false>::fns();
    return pair ? Fns<Rectified<F16>, true>::fns() : Fns<Rectified<F16>, false>::fns();
  }
  if (modifiers.take("sat")) {
    if (ftz) return pair ? Fns<Saturating<Flushing<F16>>, true>::fns() : Fns<Saturating<Flushing<F16>>, false>::fns();
    return pair ? Fns<Saturating<F16>, true>::fns() : Fns<Saturating<F16>, false>::fns();
  }
  if (ftz) return pair ? Fns<Flushing<F16>, true>::fns() : Fns<Flushing<F16>, false>::fns();
  return pair ? Fns<F16, true>::fns() : Fns<F16, false>::fns();
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
