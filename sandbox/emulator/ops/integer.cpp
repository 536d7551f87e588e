// Integer sums, quotients and choices.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

// Wide enough that no product or sum of two T overflows as a signed int.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T>
struct Add : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return static_cast<T>(static_cast<Bits<T>>(a) + static_cast<Bits<T>>(b)); }
};

template <class T>
struct Sub : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return static_cast<T>(static_cast<Bits<T>>(a) - static_cast<Bits<T>>(b)); }
};

inline s32 saturated(s64 value) {
  const s64 low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
  return static_cast<s32>(value < low ? low : value > high ? high : value);
}

struct AddSaturated : Stateless {
  using Stateless::Stateless;
  s32 operator()(s32 a, s32 b) const { return saturated(s64{a} + b); }
};

struct SubSaturated : Stateless {
  using Stateless::Stateless;
  s32 operator()(s32 a, s32 b) const { return saturated(s64{a} - b); }
};

// Division by zero gives all ones, as quotient and as remainder.
template <class T>
struct Div : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(Bits<T>{0} - static_cast<Bits<T>>(a));
    return static_cast<T>(a / b);
  }
};

template <class T>
struct Rem : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

template <class T>
struct Neg : Stateless {
  using Stateless::Stateless;
  T operator()(T a) const { return static_cast<T>(Bits<T>{0} - static_cast<Bits<T>>(a)); }
};

template <class T>
struct Abs : Stateless {
  using Stateless::Stateless;
  T operator()(T a) const { return a < 0 ? static_cast<T>(Bits<T>{0} - static_cast<Bits<T>>(a)) : a; }
};

template <class T>
struct Min : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return a < b ? a : b; }
};

template <class T>
struct Max : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return a > b ? a : b; }
};

template <class T, template <class> class Choice>
struct Clamped : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const {
    const T chosen = Choice<T>(DecodedOp{})(a, b);
    return chosen < 0 ? T{0} : chosen;
  }
};

// Op<T> on both halves of a 32-bit lane.
template <class Op, class T>
struct Paired : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 a, u32 b) const {
    const Op op{DecodedOp{}};
    const u32 low = static_cast<u16>(op(static_cast<T>(a), static_cast<T>(b)));
    const u32 high = static_cast<u16>(op(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | high << 16;
  }
};

template <template <class> class Op>
OpFns fns_of_any(Type type) {
  if (type == Type::u16x2) return fns<Paired<Op<u16>, u16>>();
  if (type == Type::s16x2) return fns<Paired<Op<s16>, s16>>();
  return fns_of_integer<Op>(type);
}

template <template <class> class Op, class Saturated>
Result<DecodedOp> make_sum(Request& request) {
  const Type type = request.type;
  if (type == Type::s32 && request.modifiers.take("sat")) return make_op(request, fns<Saturated>(), type, {type, type});
  return make_op(request, fns_of_any<Op>(type), type, {type, type});
}

template <template <class> class Op>
Result<DecodedOp> make_binary(Request& request) {
  return make_op(request, fns_of_integer<Op>(request.type), request.type, {request.type, request.type});
}

template <template <class> class Op>
Result<DecodedOp> make_choice(Request& request) {
  const Type type = request.type;
  OpFns chosen = fns_of_any<Op>(type);
  if (type == Type::s32 && request.modifiers.take("relu")) chosen = fns<Clamped<s32, Op>>();
  if (type == Type::s16x2 && request.modifiers.take("relu")) chosen = fns<Paired<Clamped<s16, Op>, s16>>();
  return make_op(request, chosen, type, {type, type});
}

template <template <class> class Op>
Result<DecodedOp> make_unary(Request& request) {
  return make_op(request, fns_of_integer<Op>(request.type), request.type, {request.type});
}

constexpr ops::TypeSet kIntegers = {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};
constexpr ops::TypeSet kWithPairs = {Type::u16, Type::s16, Type::u32,   Type::s32,
                                     Type::u64, Type::s64, Type::u16x2, Type::s16x2};
constexpr ops::TypeSet kSigned = {Type::s16, Type::s32, Type::s64};

constexpr Form kForms[] = {
    {"add", kWithPairs, make_sum<Add, AddSaturated>},
    {"sub", kWithPairs, make_sum<Sub, SubSaturated>},
    {"div", kIntegers, make_binary<Div>},
    {"rem", kIntegers, make_binary<Rem>},
    {"neg", kSigned, make_unary<Neg>},
    {"abs", kSigned, make_unary<Abs>},
    {"min", kWithPairs, make_choice<Min>},
    {"max", kWithPairs, make_choice<Max>},
};

}  // namespace

FormSpan integer_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
