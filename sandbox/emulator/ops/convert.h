#pragma once
// What a cvt says, and the makers of its four families.

#include "sandbox/emulator/ops/encode.h"
#include "sandbox/emulator/ops/rounding.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

enum class Integral : u32 { none, nearest, zero, down, up };

struct Conversion {
  ops::Type to, from;
  Integral integral = Integral::none;
  Rounding rounding = Rounding::rn;
  bool ties_away = false, ftz = false, sat = false, relu = false, satfinite = false;
};

// The same, packed into DecodedOp::extra for the slow conversion.
u32 packed(const Conversion& conversion);
Conversion unpacked(u32 extra);

Result<DecodedOp> make_integer_convert(const ops::Request& request, const Conversion& conversion);
Result<DecodedOp> make_integer_to_float(const ops::Request& request, const Conversion& conversion);
Result<DecodedOp> make_float_to_integer(const ops::Request& request, const Conversion& conversion);
Result<DecodedOp> make_float_convert(const ops::Request& request, const Conversion& conversion);
Result<DecodedOp> make_packed_convert(const ops::Request& request, const Conversion& conversion);

// Any conversion between single numbers, lane by lane at run time.
OpFns slow_convert_fns(const Conversion& conversion);

}  // namespace onelaunch::emu::OL_OPS_LEVEL
