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

// extra: the sign bits of the halves in use.
struct Neg {
  u32 signs;
  explicit Neg(const DecodedOp& op) : signs(op.extra) {}
  u32 operator()(u32 a) const { return a ^ signs; }
};

struct Abs {
  u32 signs;
  explicit Abs(const DecodedOp& op) : signs(op.extra) {}
  u32 operator()(u32 a) const { return a & ~signs; }
};

template <class Op>
struct FlushingSign : Op {
  using Op::Op;
  u32 operator()(u32 a) const {
    return Op::operator()(flushed_half<F16>(a & 0xffffu) | flushed_half<F16>(a >> 16) << 16);
  }
};

template <class Op>
Result<DecodedOp> make_sign(Request& request) {
  const Type type = request.type;
  const bool half = type == Type::f16 || type == Type::f16x2;
  const bool ftz = half && request.modifiers.take("ftz");
  const u32 signs = type_bits(type) == 32 ? 0x80008000u : 0x8000u;
  return make_op(request, ftz ? rare_fns<FlushingSign<Op>>() : fns<Op>(), type, {type}, CostClass::alu, signs);
}

constexpr ops::TypeSet kHalves = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2};

constexpr Form kForms[] = {
    {"add", kHalves, make_binary<Add>},     {"sub", kHalves, make_binary<Sub>},
    {"mul", kHalves, make_binary<Mul>},     {"min", kHalves, make_choice<false>},
    {"max", kHalves, make_choice<true>},    {"neg", kHalves, make_sign<Neg>},
    {"abs", kHalves, make_sign<Abs>},
};

}  // namespace

FormSpan half_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
