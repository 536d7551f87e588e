// Any conversion between numbers, decided lane by lane: the rule that the fast ones must agree with.

#include <cmath>

#include "sandbox/emulator/ops/convert.h"
#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Type;

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

// An integer cell as sign and magnitude.
struct Integer {
  u64 magnitude;
  bool negative;
};

Integer integer_of(u64 cell, Type type) {
  const int bits = type_bits(type);
  const u64 cut = bits == 64 ? cell : cell & ((u64{1} << bits) - 1);
  if (!is_signed(type) || !(cut >> (bits - 1) & 1)) return {cut, false};
  return {bits == 64 ? u64{0} - cut : (u64{1} << bits) - cut, true};
}

// To the range of an integer type; saturating, as bits of the cell.
u64 clamped(Integer value, Type type) {
  const int bits = type_bits(type);
  const u64 low_magnitude = is_signed(type) ? u64{1} << (bits - 1) : 0;
  const u64 high = is_signed(type) ? low_magnitude - 1 : bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  if (value.negative) return u64{0} - (value.magnitude > low_magnitude ? low_magnitude : value.magnitude);
  return value.magnitude > high ? high : value.magnitude;
}

// What the register holds: a 32-bit cell, of which 16-bit values fill the lower half.
u64 integer_cell(u64 value, Type type) {
  if (type_bits(type) == 64) return value;
  return type_bits(type) == 32 ? value & 0xffffffffu : value & 0xffffu;
}

double float_value(u64 cell, const Conversion& conversion) {
  const u32 word = static_cast<u32>(cell);
  switch (conversion.from) {
    case Type::f16: {
      // A NaN keeps its payload.
      const u64 special = u64{word & 0x8000u} << 48 | u64{word & 0x7fffu} << 42 | 0x7ff8000000000000u;
      return (word & 0x7fffu) > 0x7c00u ? double_of(special) : F16::widen(word & 0xffffu);
    }
    case Type::bf16: return float_of(word << 16);
    case Type::f32: return conversion.ftz ? finished<true, false>(float_of(word)) : float_of(word);
    default: return double_of(cell);
  }
}

double to_integral(double value, Integral integral) {
  switch (integral) {
    case Integral::nearest: return std::nearbyint(value);
    case Integral::zero: return std::trunc(value);
    case Integral::down: return std::floor(value);
    case Integral::up: return std::ceil(value);
    default: return value;
  }
}

u64 integer_from_float(double value, const Conversion& conversion) {
  const Type to = conversion.to;
  if (std::isnan(value)) {
    // Zero, except where a 64-bit number takes part.
    const bool wide = type_bits(to) == 64 || conversion.from == Type::f64;
    const u64 top_bit = u64{1} << (type_bits(to) - 1);
    return wide ? integer_cell(is_signed(to) ? u64{0} - top_bit : top_bit, to) : 0;
  }
  const double whole = to_integral(value, conversion.integral), magnitude = std::fabs(whole);
  const u64 bounded = magnitude >= 18446744073709551616.0 ? ~u64{0} : static_cast<u64>(magnitude);
  return integer_cell(clamped({bounded, whole < 0}, to), to);
}

ops::Direction direction_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::rn: return ops::Direction::nearest_even;
    case Rounding::rz: return ops::Direction::toward_zero;
    case Rounding::rm: return ops::Direction::down;
    default: return ops::Direction::up;
  }
}

u64 float_cell(double value, const Conversion& conversion) {
  double result = value;
  if (conversion.sat) result = result > 0 ? (result < 1 ? result : 1.0) : 0.0;  // NaN becomes 0
  if (conversion.relu && result < 0) result = 0;
  if (conversion.relu && result == 0) result = 0;
  const ops::Direction direction = direction_of(conversion.rounding);
  switch (conversion.to) {
    case Type::f64: return bits_of(quiet(result));
    case Type::f16:
      if (std::isnan(result) && conversion.from == Type::f64)
        return (bits_of(result) >> 48 & 0x8000u) | 0x7e00u | (bits_of(result) >> 42 & 0x1ffu);
      return ops::encode(result, ops::kF16Format, direction, conversion.satfinite);
    case Type::bf16: return ops::encode(result, ops::kBf16Format, direction, conversion.satfinite);
    default: break;
  }
  if (std::isnan(result) && conversion.from == Type::f64) return bits_of(static_cast<float>(result));
  const u32 word = ops::encode(result, ops::kF32Format, direction, conversion.satfinite);
  return conversion.ftz ? bits_of(flushed<true>(float_of(word))) : word;
}

u64 convert(u64 cell, const Conversion& conversion) {
  const bool to_float = is_float(conversion.to);
  if (is_float(conversion.from)) {
    const double value = float_value(cell, conversion);
    return to_float ? float_cell(to_integral(value, conversion.integral), conversion)
                    : integer_from_float(value, conversion);
  }
  const Integer value = integer_of(cell, conversion.from);
  if (to_float) return float_cell(ops::sticky_double(value.magnitude, value.negative), conversion);
  return integer_cell(clamped(value, conversion.to), conversion.to);
}

template <class To, class From>
void convert_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const Conversion conversion = unpacked(op.extra);
  const From* const from = warp.row<From>(op.a);
  To* const to = warp.row_to_write<To>(op.dst);
  for (u32 i = 0; i < kLanes; ++i)
    if (mask >> i & 1) to[i] = static_cast<To>(convert(from[i], conversion));
}

template <class To>
OpFn convert_fn(Type from) {
  return is_wide(from) ? &convert_row<To, u64> : &convert_row<To, u32>;
}

}  // namespace

u32 packed(const Conversion& conversion) {
  return static_cast<u32>(conversion.to) | static_cast<u32>(conversion.from) << 5 |
         static_cast<u32>(conversion.integral) << 10 | static_cast<u32>(conversion.rounding) << 13 |
         u32{conversion.ftz} << 15 | u32{conversion.sat} << 16 | u32{conversion.relu} << 17 |
         u32{conversion.satfinite} << 18 | u32{conversion.ties_away} << 19;
}

Conversion unpacked(u32 extra) {
  Conversion conversion{static_cast<Type>(extra & 31), static_cast<Type>(extra >> 5 & 31)};
  conversion.integral = static_cast<Integral>(extra >> 10 & 7);
  conversion.rounding = static_cast<Rounding>(extra >> 13 & 3);
  conversion.ftz = extra >> 15 & 1;
  conversion.sat = extra >> 16 & 1;
  conversion.relu = extra >> 17 & 1;
  conversion.satfinite = extra >> 18 & 1;
  conversion.ties_away = extra >> 19 & 1;
  return conversion;
}

OpFns slow_convert_fns(const Conversion& conversion) {
  const OpFn run = is_wide(conversion.to) ? convert_fn<u64>(conversion.from) : convert_fn<u32>(conversion.from);
  return {run, run};
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
