// ex2, lg2, rsqrt, sin, cos, tanh: the emulator returns the correctly rounded value, the GPU one within a few ulp.

#include <cmath>

#include "sandbox/emulator/ops/approximation.h"
#include "sandbox/emulator/ops/choose.h"
#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/half_policies.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

struct Exp2 { static float of(float x) { return exp2_of(x); } };
struct Log2 { static float of(float x) { return log2_of(x); } };
struct ReciprocalRoot { static float of(float x) { return reciprocal_root_of(x); } };
struct Sin { static float of(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); } };
struct Cos { static float of(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); } };
struct Tanh { static float of(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); } };

template <class Function, bool ftz>
struct Approximate : Stateless {
  using Stateless::Stateless;
  float operator()(float a) const { return finished<ftz, false>(Function::of(flushed<ftz>(a))); }
};

template <class Function>
Result<DecodedOp> make_approximation(Request& request) {
  if (!request.modifiers.take("approx")) return invalid("needs .approx");
  const bool ftz = request.modifiers.take("ftz");
  return make_op(request, ftz ? fns<Approximate<Function, true>>() : fns<Approximate<Function, false>>(), Type::f32,
                 {Type::f32}, CostClass::mufu);
}

template <class Half, class Function, bool pair>
struct ApproximateHalf : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 a) const {
    const float low = Function::of(Half::low(a));
    if constexpr (!pair) return Half::narrow(low);
    return Half::narrow2(low, Function::of(Half::high(a)));
  }
};

// ex2 of bf16 always has .ftz.
template <class Function>
Result<DecodedOp> make_half_approximation(Request& request) {
  if (!request.modifiers.take("approx")) return invalid("needs .approx");
  const bool ftz = request.modifiers.take("ftz");
  const Type type = request.type;
  OpFns chosen;
  if (type == Type::f16) chosen = fns<ApproximateHalf<F16, Function, false>>();
  else if (type == Type::f16x2) chosen = fns<ApproximateHalf<F16, Function, true>>();
  else if (ftz && type == Type::bf16) chosen = fns<ApproximateHalf<Flushing<Bf16>, Function, false>>();
  else if (ftz) chosen = fns<ApproximateHalf<Flushing<Bf16>, Function, true>>();
  else if (type == Type::bf16) chosen = fns<ApproximateHalf<Bf16, Function, false>>();
  else chosen = fns<ApproximateHalf<Bf16, Function, true>>();
  return make_op(request, chosen, type, {type}, CostClass::mufu);
}

constexpr ops::TypeSet kHalves = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2};

constexpr Form kForms[] = {
    {"ex2", {Type::f32}, make_approximation<Exp2>},
    {"lg2", {Type::f32}, make_approximation<Log2>},
    {"rsqrt", {Type::f32}, make_approximation<ReciprocalRoot>},
    {"sin", {Type::f32}, make_approximation<Sin>},
    {"cos", {Type::f32}, make_approximation<Cos>},
    {"tanh", {Type::f32}, make_approximation<Tanh>},
    {"ex2", kHalves, make_half_approximation<Exp2>},
    {"tanh", kHalves, make_half_approximation<Tanh>},
};

}  // namespace

FormSpan float32_approximation_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
