// Double-precision arithmetic.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/float_bits.h"
#include "sandbox/emulator/ops/rounding.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

// Of several NaN operands the last one is kept; of a quotient's the first; of an fma's b, else c, else a.
struct Add : Stateless {
  using Stateless::Stateless;
  double operator()(double a, double b) const { return passing(b, passing(a, new_nan(a + b))); }
};

struct Sub : Stateless {
  using Stateless::Stateless;
  double operator()(double a, double b) const { return passing(b, passing(a, new_nan(a - b))); }
};

struct Mul : Stateless {
  using Stateless::Stateless;
  double operator()(double a, double b) const { return passing(b, passing(a, new_nan(a * b))); }
};

struct Div : Stateless {
  using Stateless::Stateless;
  double operator()(double a, double b) const { return passing(a, passing(b, new_nan(a / b))); }
};

struct Fma : Stateless {
  using Stateless::Stateless;
  double operator()(double a, double b, double c) const {
    return passing(b, passing(c, passing(a, new_nan(__builtin_fma(a, b, c)))));
  }
};

struct Rcp : Stateless {
  using Stateless::Stateless;
  double operator()(double a) const { return passing(a, 1.0 / a); }
};

struct Sqrt : Stateless {
  using Stateless::Stateless;
  double operator()(double a) const { return passing(a, new_nan(__builtin_sqrt(a))); }
};

struct ReciprocalRoot : Stateless {
  using Stateless::Stateless;
  double operator()(double a) const { return passing(a, new_nan(1.0 / __builtin_sqrt(a))); }
};

inline s64 order_key(u64 bits) { return static_cast<s64>(bits ^ (static_cast<u64>(static_cast<s64>(bits) >> 63) >> 1)); }

template <bool maximum>
struct Choose : Stateless {
  using Stateless::Stateless;
  double operator()(double a, double b) const {
    if (a != a) return quiet(b);
    if (b != b) return a;
    const s64 x = order_key(bits_of(a)), y = order_key(bits_of(b));
    return (maximum ? x > y : x < y) ? a : b;
  }
};

struct Neg : Stateless {
  using Stateless::Stateless;
  double operator()(double a) const { return passing(a, double_of(bits_of(a) ^ u64{1} << 63)); }
};

struct Abs : Stateless {
  using Stateless::Stateless;
  double operator()(double a) const { return passing(a, double_of(bits_of(a) & ~(u64{1} << 63))); }
};

struct CopySign : Stateless {
  using Stateless::Stateless;
  u64 operator()(u64 sign, u64 magnitude) const {
    constexpr u64 kSign = u64{1} << 63;
    return (sign & kSign) | (magnitude & ~kSign);
  }
};

template <class Op>
Result<DecodedOp> make_binary(Request& request) {
  const OpFns chosen = rounded_fns<Op>(take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f64, {Type::f64, Type::f64}, CostClass::fma);
}

Result<DecodedOp> make_fma(Request& request) {
  const OpFns chosen = rounded_fns<Fma>(take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f64, {Type::f64, Type::f64, Type::f64}, CostClass::fma);
}

template <class Op>
Result<DecodedOp> make_unary(Request& request) {
  (void)request.modifiers.take("approx");
  (void)request.modifiers.take("ftz");
  const OpFns chosen = rounded_fns<Op>(take_rounding(request.modifiers));
  return make_op(request, chosen, Type::f64, {Type::f64}, CostClass::mufu);
}

template <class Op>
Result<DecodedOp> make_plain_binary(Request& request) {
  return make_op(request, fns<Op>(), Type::f64, {Type::f64, Type::f64});
}

template <class Op>
Result<DecodedOp> make_sign(Request& request) {
  return make_op(request, fns<Op>(), Type::f64, {Type::f64});
}

constexpr ops::TypeSet kDouble = {Type::f64};

constexpr Form kForms[] = {
    {"add", kDouble, make_binary<Add>},
    {"sub", kDouble, make_binary<Sub>},
    {"mul", kDouble, make_binary<Mul>},
    {"div", kDouble, make_binary<Div>},
    {"fma", kDouble, make_fma},
    {"mad", kDouble, make_fma},
    {"rcp", kDouble, make_unary<Rcp>},
    {"sqrt", kDouble, make_unary<Sqrt>},
    {"rsqrt", kDouble, make_unary<ReciprocalRoot>},
    {"min", kDouble, make_plain_binary<Choose<false>>},
    {"max", kDouble, make_plain_binary<Choose<true>>},
    {"copysign", kDouble, make_plain_binary<CopySign>},
    {"neg", kDouble, make_sign<Neg>},
    {"abs", kDouble, make_sign<Abs>},
};

}  // namespace

FormSpan float64_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
