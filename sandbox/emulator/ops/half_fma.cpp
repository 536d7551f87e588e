// fma of 16-bit floats, rounded once: the product is exact in float, the sum is rounded to odd in float, and that to
// 16 bits.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/half_policies.h"
#include "sandbox/emulator/ops/odd.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

// Not zero if the product may not be exact: bf16 products can be too small or too large for float.
template <class Half>
inline u32 doubtful(float product) {
  if constexpr (Half::kAbove == F16::kAbove) return 0u;
  const u32 magnitude = bits_of(product) & ~kSign32;
  const u32 subnormal = below(magnitude, 0x800000u) & below(0u, magnitude);
  return subnormal | below(kInfinity32 - 1, magnitude);
}

template <class Half>
u32 exact_fma(float a, float b, float c) {
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
    const float low = Half::low(a[i]) * Half::low(b[i]);
    if constexpr (pair) {
      const float high = Half::high(a[i]) * Half::high(b[i]);
      result[i] = Half::narrow2(odd_sum(low, Half::low(c[i])), odd_sum(high, Half::high(c[i])));
      doubt |= doubtful<Half>(low) | doubtful<Half>(high);
    } else {
      result[i] = Half::narrow(odd_sum(low, Half::low(c[i])));
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
