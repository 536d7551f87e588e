// f16 and bf16, one or two a lane. Sums and products of 16-bit numbers rounded to float and then to 16 bits are
// rounded once: 24 bits are at least twice 11 plus 2.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/float_choice.h"
#include "sandbox/emulator/ops/half_policies.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

struct Add { static float of(float a, float b) { return a + b; } };
struct Sub { static float of(float a, float b) { return a - b; } };
struct Mul { static float of(float a, float b) { return a * b; } };

template <class Half, class Function, bool pair>
struct Binary : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 a, u32 b) const {
    const float low = Function::of(Half::low(a), Half::low(b));
    if constexpr (!pair) return Half::narrow(low);
    else return Half::narrow2(low, Function::of(Half::high(a), Half::high(b)));
  }
};

template <class Function>
struct ByFunction {
  template <class Half, bool pair>
  struct Fns {
    static OpFns fns() { return OL_OPS_LEVEL::fns<Binary<Half, Function, pair>>(); }
  };
};

template <class Function>
Result<DecodedOp> make_binary(Request& request) {
  (void)request.modifiers.take("rn");
  const OpFns chosen = half_fns<ByFunction<Function>::template Fns>(request.type, request.modifiers);
  return make_op(request, chosen, request.type, {request.type, request.type}, CostClass::fma);
}

template <class Rule>
struct ChoiceFunction { static float of(float a, float b) { return Rule::choose(a, b); } };

template <bool maximum>
Result<DecodedOp> make_choice(Request& request) {
  const bool keep_nan = request.modifiers.take("NaN"), xorsign = request.modifiers.take("xorsign");
  if (xorsign && !request.modifiers.take("abs")) return invalid(".xorsign needs .abs");
  Modifiers& modifiers = request.modifiers;
  OpFns chosen;
  if (keep_nan && xorsign)
    chosen = half_fns<ByFunction<ChoiceFunction<Choice<maximum, true, true>>>::template Fns>(request.type, modifiers);
  else if (keep_nan)
    chosen = half_fns<ByFunction<ChoiceFunction<Choice<maximum, true, false>>>::template Fns>(request.type, modifiers);
  else if (xorsign)
    chosen = half_fns<ByFunction<ChoiceFunction<Choice<maximum, false, true>>>::template Fns>(request.type, modifiers);
  else
    chosen = half_fns<ByFunction<ChoiceFunction<Choice<maximum, false, false>>>::template Fns>(request.type, modifiers);
  return make_op(request, chosen, request.type, {request.type, request.type});
}

// Bits `keep` of the half, `flip` of them inverted; NaN becomes the one NaN.
template <class Half, bool ftz, u32 keep, u32 flip>
struct Sign : Stateless {
  using Stateless::Stateless;
  static u32 one(u32 half) {
    const u32 code = ftz ? flushed_half<Half>(half) : half;
    return pick(below(Half::kAbove, code & 0x7fffu), kNaN16, (code & keep) ^ flip);
  }
  u32 operator()(u32 a) const { return one(a & 0xffffu) | one(a >> 16) << 16; }
};

template <class Half, bool ftz, u32 keep, u32 flip>
struct SingleSign : Sign<Half, ftz, keep, flip> {
  using Sign<Half, ftz, keep, flip>::Sign;
  u32 operator()(u32 a) const { return Sign<Half, ftz, keep, flip>::one(a & 0xffffu); }
};

template <u32 keep, u32 flip>
Result<DecodedOp> make_sign(Request& request) {
  const Type type = request.type;
  const bool pair = type_bits(type) == 32;
  OpFns chosen;
  if (type == Type::bf16 || type == Type::bf16x2)
    chosen = pair ? fns<Sign<Bf16, false, keep, flip>>() : fns<SingleSign<Bf16, false, keep, flip>>();
  else if (request.modifiers.take("ftz"))
    chosen = pair ? fns<Sign<F16, true, keep, flip>>() : fns<SingleSign<F16, true, keep, flip>>();
  else
    chosen = pair ? fns<Sign<F16, false, keep, flip>>() : fns<SingleSign<F16, false, keep, flip>>();
  return make_op(request, chosen, type, {type});
}

constexpr ops::TypeSet kHalves = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2};

constexpr Form kForms[] = {
    {"add", kHalves, make_binary<Add>},     {"sub", kHalves, make_binary<Sub>},
    {"mul", kHalves, make_binary<Mul>},     {"min", kHalves, make_choice<false>},
    {"max", kHalves, make_choice<true>},    {"neg", kHalves, make_sign<0xffff, 0x8000>},
    {"abs", kHalves, make_sign<0x7fff, 0>},
};

}  // namespace

FormSpan half_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
