// cvt between floats, single and packed.

#include "sandbox/emulator/ops/convert.h"
#include "sandbox/emulator/ops/half_policies.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::make_op;
using ops::OperandReader;
using ops::Request;
using ops::Type;

template <class Half, bool ftz>
struct NarrowFloat : Stateless {
  using Stateless::Stateless;
  u32 operator()(float a) const { return Half::narrow(flushed<ftz>(a)); }
};

// A bf16 is the upper half of its float, even if it is NaN; an f16 NaN becomes the one NaN.
template <class Half>
struct WidenHalf : Stateless {
  using Stateless::Stateless;
  float operator()(u32 a) const {
    if constexpr (Half::kAbove == Bf16::kAbove) return Half::low(a);
    else return canonical(Half::low(a));
  }
};

// Conversions with double keep the upper bits of a NaN, as those of the host do.
struct WidenFloat : Stateless {
  using Stateless::Stateless;
  double operator()(float a) const { return quiet(static_cast<double>(a)); }
};

struct NarrowDouble : Stateless {
  using Stateless::Stateless;
  float operator()(double a) const { return static_cast<float>(a); }
};

template <bool ftz, bool sat>
struct RoundFloat {
  u32 integral;
  explicit RoundFloat(const DecodedOp& op) : integral(static_cast<u32>(unpacked(op.extra).integral)) {}
  float operator()(float a) const {
    const float value = flushed<ftz>(a);
    const float nearest = __builtin_rintf(value), zero = __builtin_truncf(value);
    const float down = __builtin_floorf(value), up = __builtin_ceilf(value);
    float whole = value;
    if (integral == static_cast<u32>(Integral::nearest)) whole = nearest;
    if (integral == static_cast<u32>(Integral::zero)) whole = zero;
    if (integral == static_cast<u32>(Integral::down)) whole = down;
    if (integral == static_cast<u32>(Integral::up)) whole = up;
    return finished<ftz, sat>(whole);
  }
};

OpFns round_float_fns(const Conversion& conversion) {
  if (conversion.ftz) return conversion.sat ? fns<RoundFloat<true, true>>() : fns<RoundFloat<true, false>>();
  return conversion.sat ? fns<RoundFloat<false, true>>() : fns<RoundFloat<false, false>>();
}

template <class Half>
OpFns narrow_float_fns(const Conversion& conversion) {
  if (conversion.relu) return fns<NarrowFloat<Rectified<Half>, false>>();
  return conversion.ftz ? fns<NarrowFloat<Half, true>>() : fns<NarrowFloat<Half, false>>();
}

// The vectorised conversion for this pair, nothing if only the slow one can do it.
OpFns fast_fns(const Conversion& conversion) {
  const Type to = conversion.to, from = conversion.from;
  if (conversion.satfinite || conversion.ties_away) return {};
  if (from == Type::f32 && to == Type::f32) return conversion.relu ? OpFns{} : round_float_fns(conversion);
  if (conversion.sat || conversion.integral != Integral::none) return {};
  const bool nearest = conversion.rounding == Rounding::rn;
  if (from == Type::f32 && to == Type::f16 && nearest) return narrow_float_fns<F16>(conversion);
  if (from == Type::f32 && to == Type::bf16 && nearest) return narrow_float_fns<Bf16>(conversion);
  if (conversion.ftz || conversion.relu) return {};
  if (from == Type::f16 && to == Type::f32) return fns<WidenHalf<F16>>();
  if (from == Type::bf16 && to == Type::f32) return fns<WidenHalf<Bf16>>();
  if (from == Type::f32 && to == Type::f64) return fns<WidenFloat>();
  if (from == Type::f64 && to == Type::f32) return rounded_fns<NarrowDouble>(conversion.rounding);
  return {};
}

// Two floats to one word: the first source is the upper half.
template <class Half>
struct PackFloats : Stateless {
  using Stateless::Stateless;
  u32 operator()(float high, float low) const { return Half::narrow2(low, high); }
};

struct PackSlowly {
  Conversion conversion;
  explicit PackSlowly(const DecodedOp& op) : conversion(unpacked(op.extra)) {}
  u32 one(float value) const {
    const bool half = conversion.to == Type::f16x2, wide = half || conversion.to == Type::bf16x2;
    const ops::FloatFormat& format = half ? ops::kF16Format
                                     : wide ? ops::kBf16Format
                                            : conversion.to == Type::e4m3x2 ? ops::kE4m3Format : ops::kE5m2Format;
    constexpr ops::Direction kDirections[] = {ops::Direction::nearest_even, ops::Direction::toward_zero,
                                              ops::Direction::down, ops::Direction::up};
    const float clipped = conversion.relu ? rectified(value) : value;
    return ops::encode(clipped, format, kDirections[static_cast<int>(conversion.rounding)], conversion.satfinite);
  }
  u32 operator()(float high, float low) const {
    const int width = conversion.to == Type::f16x2 || conversion.to == Type::bf16x2 ? 16 : 8;
    return one(low) | one(high) << width;
  }
};

struct PackHalves {
  PackSlowly pack;
  explicit PackHalves(const DecodedOp& op) : pack(op) {}
  u32 operator()(u32 halves) const { return pack(F16::high(halves), F16::low(halves)); }
};

struct UnpackBytes {
  ops::FloatFormat format;
  bool relu;
  explicit UnpackBytes(const DecodedOp& op)
      : format(unpacked(op.extra).from == Type::e4m3x2 ? ops::kE4m3Format : ops::kE5m2Format),
        relu(unpacked(op.extra).relu) {}
  u32 one(u32 byte) const {
    const float value = static_cast<float>(ops::decode(byte, format));
    return F16::narrow(relu ? rectified(value) : value);
  }
  u32 operator()(u32 bytes) const { return one(bytes & 255u) | one(bytes >> 8 & 255u) << 16; }
};

// To 11 significant bits, kept in the format of float.
struct ToTf32 {
  Conversion conversion;
  explicit ToTf32(const DecodedOp& op) : conversion(unpacked(op.extra)) {}
  float operator()(float a) const {
    const u32 bits = bits_of(a), magnitude = bits & ~kSign32;
    if (magnitude > kInfinity32) return float_of((conversion.ties_away ? bits : kNaN32) & ~0x1fffu);
    if (magnitude == kInfinity32) return conversion.relu ? rectified(a) : a;
    u32 increment = conversion.rounding == Rounding::rn ? 0xfffu + (bits >> 13 & 1u) : 0u;
    if (conversion.ties_away) increment = 0x1000u;
    const u32 rounded = (magnitude + increment) & ~0x1fffu;
    const float value = float_of(rounded | (bits & kSign32));
    return conversion.relu ? rectified(value) : value;
  }
};

template <class Half>
OpFns pack_fns(const Conversion& conversion) {
  if (conversion.satfinite || conversion.rounding != Rounding::rn) return fns<PackSlowly>();
  return conversion.relu ? fns<PackFloats<Rectified<Half>>>() : fns<PackFloats<Half>>();
}

bool is_bytes(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }

}  // namespace

Result<DecodedOp> make_float_convert(const Request& request, const Conversion& conversion) {
  if (conversion.ties_away) return invalid(".rna is for .tf32 only");
  OpFns chosen = fast_fns(conversion);
  if (chosen.full == nullptr) chosen = slow_convert_fns(conversion);
  return make_op(request, chosen, conversion.to, {conversion.from}, CostClass::alu, packed(conversion));
}

Result<DecodedOp> make_packed_convert(const Request& request, const Conversion& conversion) {
  const Type to = conversion.to, from = conversion.from;
  const u32 extra = packed(conversion);
  const auto make = [&](OpFns chosen, std::initializer_list<Type> sources) {
    return make_op(request, chosen, to, sources, CostClass::alu, extra);
  };
  if (conversion.sat || conversion.ftz || conversion.integral != Integral::none)
    return invalid("a modifier of this packed conversion is not implemented");
  if (to == Type::tf32 && from == Type::f32 && !conversion.satfinite) return make(fns<ToTf32>(), {from});
  if (conversion.ties_away) return invalid(".rna is for .tf32 only");
  if (to == Type::f16x2 && from == Type::f32) return make(pack_fns<F16>(conversion), {from, from});
  if (to == Type::bf16x2 && from == Type::f32) return make(pack_fns<Bf16>(conversion), {from, from});
  if (is_bytes(to) && from == Type::f32) return make(fns<PackSlowly>(), {from, from});
  if (is_bytes(to) && from == Type::f16x2) return make(fns<PackHalves>(), {from});
  if (to == Type::f16x2 && is_bytes(from)) return make(fns<UnpackBytes>(), {from});
  return invalid("conversion from ." + std::string(type_name(from)) + " to ." + std::string(type_name(to)) +
                 " is not implemented");
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
