// cvt from and to integers.

#include "sandbox/emulator/ops/convert.h"
#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::make_op;
using ops::Request;
using ops::Type;

template <class To, class From>
struct Narrow : Stateless {
  using Stateless::Stateless;
  To operator()(From a) const { return static_cast<To>(a); }
};

template <class To>
OpFns narrow_fns(Type from) {
  switch (from) {
    case Type::u8: return fns<Narrow<To, u8>>();
    case Type::s8: return fns<Narrow<To, s8>>();
    case Type::u16: return fns<Narrow<To, u16>>();
    case Type::s16: return fns<Narrow<To, s16>>();
    case Type::u32: return fns<Narrow<To, u32>>();
    case Type::s32: return fns<Narrow<To, s32>>();
    case Type::u64: return fns<Narrow<To, u64>>();
    default: return fns<Narrow<To, s64>>();
  }
}

OpFns narrow_fns(Type to, Type from) {
  switch (to) {
    case Type::u8: return narrow_fns<u8>(from);
    case Type::s8: return narrow_fns<s8>(from);
    case Type::u16: return narrow_fns<u16>(from);
    case Type::s16: return narrow_fns<s16>(from);
    case Type::u32: return narrow_fns<u32>(from);
    case Type::s32: return narrow_fns<s32>(from);
    case Type::u64: return narrow_fns<u64>(from);
    default: return narrow_fns<s64>(from);
  }
}

template <class From, class To>
struct ToFloat : Stateless {
  using Stateless::Stateless;
  To operator()(From a) const { return static_cast<To>(a); }
};

template <class To>
OpFns to_float_fns(Type from, Rounding rounding) {
  switch (from) {
    case Type::u8: return fns<ToFloat<u8, To>>();
    case Type::s8: return fns<ToFloat<s8, To>>();
    case Type::u16: return fns<ToFloat<u16, To>>();
    case Type::s16: return fns<ToFloat<s16, To>>();
    case Type::u32: return rounded_fns<ToFloat<u32, To>>(rounding);
    case Type::s32: return rounded_fns<ToFloat<s32, To>>(rounding);
    case Type::u64: return rounded_fns<ToFloat<u64, To>>(rounding);
    default: return rounded_fns<ToFloat<s64, To>>(rounding);
  }
}

template <Integral integral>
inline float whole(float value) {
  if constexpr (integral == Integral::nearest) return __builtin_rintf(value);
  else if constexpr (integral == Integral::zero) return __builtin_truncf(value);
  else if constexpr (integral == Integral::down) return __builtin_floorf(value);
  else return __builtin_ceilf(value);
}

// f32 to 32 bits: saturates, NaN becomes 0. Subnormals need no flushing but for rmi and rpi, see `ftz`.
template <Integral integral>
struct ToS32 {
  bool ftz;
  explicit ToS32(const DecodedOp& op) : ftz(op.extra != 0) {}
  s32 operator()(float a) const {
    const float value = whole<integral>(ftz ? flushed<true>(a) : a);
    const bool inside = value >= -2147483648.0f && value < 2147483648.0f;
    const s32 number = static_cast<s32>(inside ? value : 0.0f);
    const s32 above = value >= 2147483648.0f ? std::numeric_limits<s32>::max() : number;
    return value < -2147483648.0f ? std::numeric_limits<s32>::min() : above;
  }
};

template <Integral integral>
struct ToU32 {
  bool ftz;
  explicit ToU32(const DecodedOp& op) : ftz(op.extra != 0) {}
  u32 operator()(float a) const {
    const float value = whole<integral>(ftz ? flushed<true>(a) : a);
    const bool upper = value >= 2147483648.0f;
    const float in_range = value > 0.0f && value < 4294967296.0f ? value : 0.0f;
    const u32 number = static_cast<u32>(static_cast<s32>(in_range >= 2147483648.0f ? in_range - 2147483648.0f : in_range));
    const u32 whole_number = upper ? number | 0x80000000u : number;
    return value >= 4294967296.0f ? ~0u : whole_number;
  }
};

template <template <Integral> class Op>
OpFns fns_of_integral(Integral integral) {
  switch (integral) {
    case Integral::nearest: return fns<Op<Integral::nearest>>();
    case Integral::down: return fns<Op<Integral::down>>();
    case Integral::up: return fns<Op<Integral::up>>();
    default: return fns<Op<Integral::zero>>();
  }
}

}  // namespace

Result<DecodedOp> make_integer_convert(const Request& request, const Conversion& conversion) {
  const Type to = conversion.to, from = conversion.from;
  const OpFns chosen = conversion.sat ? slow_convert_fns(conversion) : narrow_fns(to, from);
  return make_op(request, chosen, to, {from}, CostClass::alu, packed(conversion));
}

Result<DecodedOp> make_integer_to_float(const Request& request, const Conversion& conversion) {
  OpFns chosen;
  if (conversion.sat || conversion.to == Type::f16 || conversion.to == Type::bf16) chosen = slow_convert_fns(conversion);
  else if (conversion.to == Type::f32) chosen = to_float_fns<float>(conversion.from, conversion.rounding);
  else chosen = to_float_fns<double>(conversion.from, conversion.rounding);
  return make_op(request, chosen, conversion.to, {conversion.from}, CostClass::alu, packed(conversion));
}

Result<DecodedOp> make_float_to_integer(const Request& request, const Conversion& conversion) {
  if (conversion.integral == Integral::none) return invalid("needs .rni, .rzi, .rmi or .rpi");
  const Type to = conversion.to;
  if (conversion.from == Type::f32 && (to == Type::s32 || to == Type::u32)) {
    const OpFns chosen =
        to == Type::s32 ? fns_of_integral<ToS32>(conversion.integral) : fns_of_integral<ToU32>(conversion.integral);
    return make_op(request, chosen, to, {Type::f32}, CostClass::alu, conversion.ftz);
  }
  return make_op(request, slow_convert_fns(conversion), to, {conversion.from}, CostClass::alu, packed(conversion));
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
