// fma of 16-bit floats. The float fma rounds once; rounding it again to 16 bits differs from rounding once only where
// it lies exactly between two 16-bit numbers, so such rows are done again with rounding to odd.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/half_policies.h"
#include "sandbox/emulator/ops/odd.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

// Not zero if the float may lie between two numbers of the format.
template <class Half>
inline u32 doubtful(float value) {
  const u32 bits = bits_of(value), magnitude = bits & ~kSign32;
  if constexpr (Half::kAbove == Bf16::kAbove) {
    return (bits & 0xffffu) == 0x8000u ? 1u : 0u;
  } else {
    const u32 inexact = (bits & 0x1fffu) | (magnitude < (113u << 23) ? magnitude : 0u);
    return (bits & 0xfffu) == 0 ? inexact : 0u;
  }
}

template <class Half>
u32 exact_fma(float a, float b, float c) {
  // The product of two floats of at most 11 bits is exact.
  return Half::narrow(odd_float(odd_sum(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c))));
}

template <class Half, bool pair>
[[gnu::noinline]] u32 exact_word(u32 a, u32 b, u32 c) {
  const u32 low = exact_fma<Half>(Half::low(a), Half::low(b), Half::low(c));
  if constexpr (!pair) return low;
  return low | exact_fma<Half>(Half::high(a), Half::high(b), Half::high(c)) << 16;
}

template <class Half, bool pair, bool full>
[[gnu::flatten]] void fma_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const u32* const a = warp.row<u32>(op.a);
  const u32* const b = warp.row<u32>(op.b);
  const u32* const c = warp.row<u32>(op.c);
  u32* const to = warp.row_to_write<u32>(op.dst);
  alignas(64) u32 result[kLanes];
  u32 doubt = 0;
  for (int i = 0; i < kLanes; ++i) {
    const float low = __builtin_fmaf(Half::low(a[i]), Half::low(b[i]), Half::low(c[i]));
    if constexpr (pair) {
      const float high = __builtin_fmaf(Half::high(a[i]), Half::high(b[i]), Half::high(c[i]));
      result[i] = Half::narrow2(low, high);
      doubt |= doubtful<Half>(low) | doubtful<Half>(high);
    } else {
      result[i] = Half::narrow(low);
      doubt |= doubtful<Half>(low);
    }
  }
  if (doubt != 0) [[unlikely]]
    for (int i = 0; i < kLanes; ++i) result[i] = exact_word<Half, pair>(a[i], b[i], c[i]);
  for (int i = 0; i < kLanes; ++i) put<full>(to, i, result[i], mask);
}

template <class Half, bool pair>
struct FmaFns {
  static OpFns fns() { return {&fma_row<Half, pair, true>, &fma_row<Half, pair, false>}; }
};

Result<DecodedOp> make_fma(Request& request) {
  (void)request.modifiers.take("rn");
  const Type type = request.type;
  return make_op(request, half_fns<FmaFns>(type, request.modifiers), type, {type, type, type}, CostClass::fma);
}

constexpr Form kForms[] = {{"fma", {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2}, make_fma}};

}  // namespace

FormSpan half_fma_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
