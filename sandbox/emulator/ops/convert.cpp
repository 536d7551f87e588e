// cvt: which of the conversions an instruction is. Fast ones for the common pairs, one slow one for every other.

#include "sandbox/emulator/ops/convert.h"

#include "sandbox/emulator/ops/families.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Type;

constexpr ops::TypeSet kIntegers = {Type::u8, Type::s8, Type::u16, Type::s16,
                                    Type::u32, Type::s32, Type::u64, Type::s64};
constexpr ops::TypeSet kFloats = {Type::f16, Type::bf16, Type::f32, Type::f64};

// rni, rzi, rmi, rpi: rounding to an integer, which may stay a float.
Integral take_integral(Modifiers& modifiers) {
  const std::string_view name = modifiers.take_one_of({"rni", "rzi", "rmi", "rpi"});
  if (name == "rni") return Integral::nearest;
  if (name == "rzi") return Integral::zero;
  if (name == "rmi") return Integral::down;
  return name == "rpi" ? Integral::up : Integral::none;
}

}  // namespace

Result<DecodedOp> make_convert(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const std::optional<Type> from = ops::take_type(modifiers), to = ops::take_type(modifiers);
  if (!from || !to) return invalid("needs the types of result and source");
  ops::Request request{context, instruction, modifiers, *to};
  Conversion conversion{*to, *from};
  conversion.integral = take_integral(modifiers);
  if (modifiers.take("rna")) conversion.ties_away = true;
  else conversion.rounding = take_rounding(modifiers);
  conversion.ftz = modifiers.take("ftz");
  conversion.sat = modifiers.take("sat");
  conversion.relu = modifiers.take("relu");
  conversion.satfinite = modifiers.take("satfinite");

  const bool from_integer = kIntegers.contains(*from), to_integer = kIntegers.contains(*to);
  const bool from_float = kFloats.contains(*from), to_float = kFloats.contains(*to);
  if (from_integer && to_integer) return make_integer_convert(request, conversion);
  if (from_integer && to_float) return make_integer_to_float(request, conversion);
  if (from_float && to_integer) return make_float_to_integer(request, conversion);
  if (from_float && to_float) return make_float_convert(request, conversion);
  return make_packed_convert(request, conversion);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
