// Single-precision arithmetic that is exactly rounded, and choices.

#include "sandbox/emulator/ops/choose.h"
#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/float_bits.h"
#include "sandbox/emulator/ops/float_choice.h"
#include "sandbox/emulator/ops/rounding.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

// Flushing looks at the result rounded to 24 bits with any exponent. The processor rounds subnormals to fewer bits,
// perhaps up to the smallest normal number; so the double value is scaled up and rounded the same way to see.
template <bool ftz>
inline float without_underflow(float result, double value) {
  if constexpr (!ftz) return result;
  const float scaled = static_cast<float>(value * 0x1p64);
  const u32 tiny = below(bits_of(scaled) & ~kSign32, bits_of(0x1p-62f));
  return float_of(bits_of(result) & (~tiny | kSign32));
}

template <bool ftz, bool sat>
struct Add : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b) const { return finished<ftz, sat>(flushed<ftz>(a) + flushed<ftz>(b)); }
};

template <bool ftz, bool sat>
struct Sub : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b) const { return finished<ftz, sat>(flushed<ftz>(a) - flushed<ftz>(b)); }
};

template <bool ftz, bool sat>
struct Mul : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b) const {
    const float x = flushed<ftz>(a), y = flushed<ftz>(b);
    return finished<ftz, sat>(without_underflow<ftz>(x * y, static_cast<double>(x) * static_cast<double>(y)));
  }
};

template <bool ftz, bool sat>
struct Fma : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b, float c) const {
    const float x = flushed<ftz>(a), y = flushed<ftz>(b), z = flushed<ftz>(c);
    const double value = static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z);
    return finished<ftz, sat>(without_underflow<ftz>(__builtin_fmaf(x, y, z), value));
  }
};

template <bool ftz, bool sat>
struct Div : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b) const {
    const float x = flushed<ftz>(a), y = flushed<ftz>(b);
    return finished<ftz, sat>(without_underflow<ftz>(x / y, static_cast<double>(x) / static_cast<double>(y)));
  }
};

template <bool ftz, bool sat>
struct Rcp : Stateless {
  using Stateless::Stateless;
  float operator()(float a) const { return finished<ftz, sat>(1.0f / flushed<ftz>(a)); }
};

template <bool ftz, bool sat>
struct Sqrt : Stateless {
  using Stateless::Stateless;
  float operator()(float a) const { return finished<ftz, sat>(__builtin_sqrtf(flushed<ftz>(a))); }
};

template <template <bool, bool> class Op>
OpFns fns_of(Request& request, Rounding rounding) {
  const bool ftz = request.modifiers.take("ftz"), sat = request.modifiers.take("sat");
  if (rounding == Rounding::rn) return fns_by<Op>(ftz, sat);
  if (ftz) return sat ? rounded_fns<Op<true, true>>(rounding) : rounded_fns<Op<true, false>>(rounding);
  return sat ? rounded_fns<Op<false, true>>(rounding) : rounded_fns<Op<false, false>>(rounding);
}

template <template <bool, bool> class Op>
Result<DecodedOp> make_binary(Request& request) {
  const OpFns chosen = fns_of<Op>(request, take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f32, {Type::f32, Type::f32}, CostClass::fma);
}

Result<DecodedOp> make_fma(Request& request) {
  const OpFns chosen = fns_of<Fma>(request, take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f32, {Type::f32, Type::f32, Type::f32}, CostClass::fma);
}

// The fast division of the hardware multiplies by a reciprocal, which is zero for divisors above 2^126.
template <bool ftz, bool sat>
struct DivByReciprocal : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b) const {
    const float x = flushed<ftz>(a), y = flushed<ftz>(b);
    const bool large = (bits_of(y) & ~kSign32) > 0x7e800000u && (bits_of(y) & ~kSign32) < kInfinity32;
    return finished<ftz, sat>(large ? x * float_of(bits_of(y) & kSign32) : x / y);
  }
};

Result<DecodedOp> make_div(Request& request) {
  const std::string_view approximation = request.modifiers.take_one_of({"approx", "full"});
  OpFns chosen;
  if (approximation == "approx") chosen = fns_of<DivByReciprocal>(request, Rounding::rn);
  else chosen = fns_of<Div>(request, take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f32, {Type::f32, Type::f32}, CostClass::mufu);
}

template <template <bool, bool> class Op>
Result<DecodedOp> make_root(Request& request) {
  (void)request.modifiers.take("approx");
  const OpFns chosen = fns_of<Op>(request, take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f32, {Type::f32}, CostClass::mufu);
}

template <bool ftz, class Rule>
struct Choose : Stateless {
  using Stateless::Stateless;
  float operator()(float a, float b) const { return Rule::choose(flushed<ftz>(a), flushed<ftz>(b)); }
};

template <bool maximum, bool keep_nan, bool xorsign>
OpFns choice_fns(bool ftz) {
  using Rule = Choice<maximum, keep_nan, xorsign>;
  return ftz ? fns<Choose<true, Rule>>() : fns<Choose<false, Rule>>();
}

template <bool maximum>
Result<DecodedOp> make_choice(Request& request) {
  const bool ftz = request.modifiers.take("ftz"), keep_nan = request.modifiers.take("NaN");
  const bool xorsign = request.modifiers.take("xorsign");
  if (xorsign && !request.modifiers.take("abs")) return invalid(".xorsign needs .abs");
  OpFns chosen;
  if (keep_nan) chosen = xorsign ? choice_fns<maximum, true, true>(ftz) : choice_fns<maximum, true, false>(ftz);
  else chosen = xorsign ? choice_fns<maximum, false, true>(ftz) : choice_fns<maximum, false, false>(ftz);
  return make_op(request, chosen, Type::f32, {Type::f32, Type::f32});
}

template <bool ftz>
struct Neg : Stateless {
  using Stateless::Stateless;
  float operator()(float a) const { return canonical(float_of(bits_of(flushed<ftz>(a)) ^ kSign32)); }
};

template <bool ftz>
struct Abs : Stateless {
  using Stateless::Stateless;
  float operator()(float a) const { return canonical(float_of(bits_of(flushed<ftz>(a)) & ~kSign32)); }
};

struct CopySign : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 sign, u32 magnitude) const { return (sign & kSign32) | (magnitude & ~kSign32); }
};

template <template <bool> class Op>
Result<DecodedOp> make_sign(Request& request) {
  return make_op(request, fns_by<Op>(request.modifiers.take("ftz")), Type::f32, {Type::f32});
}

Result<DecodedOp> make_copysign(Request& request) {
  return make_op(request, fns<CopySign>(), Type::f32, {Type::f32, Type::f32});
}

constexpr Form kForms[] = {
    {"add", {Type::f32}, make_binary<Add>},
    {"sub", {Type::f32}, make_binary<Sub>},
    {"mul", {Type::f32}, make_binary<Mul>},
    {"fma", {Type::f32}, make_fma},
    {"mad", {Type::f32}, make_fma},
    {"div", {Type::f32}, make_div},
    {"rcp", {Type::f32}, make_root<Rcp>},
    {"sqrt", {Type::f32}, make_root<Sqrt>},
    {"min", {Type::f32}, make_choice<false>},
    {"max", {Type::f32}, make_choice<true>},
    {"neg", {Type::f32}, make_sign<Neg>},
    {"abs", {Type::f32}, make_sign<Abs>},
    {"copysign", {Type::f32}, make_copysign},
};

}  // namespace

FormSpan float32_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
