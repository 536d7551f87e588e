// The table of arithmetic opcodes at one vector level.

#include "sandbox/emulator/ops/families.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

std::span<const OpcodeRow> rows();

namespace {

Result<DecodedOp> make_typed(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const FormSpan families[] = {
      integer_forms(),   integer_product_forms(), bit_forms(),      bit_field_forms(),
      permute_forms(),   predicate_forms(),       float32_forms(),  float32_approximation_forms(),
      float64_forms(),   half_forms(),            half_fma_forms(), compare_forms(),
      move_forms(),      warp_forms(),
  };
  return ops::make_from_forms(families, context, instruction, modifiers);
}

constexpr OpcodeRow kRows[] = {
    {"abs", make_typed, "Abs"},
    {"activemask", make_typed, "ActiveMask"},
    {"add", make_typed, "Add"},
    {"and", make_typed, "Logic"},
    {"bfe", make_typed, "BitField"},
    {"bfi", make_typed, "BitField"},
    {"bfind", make_typed, "BitCount"},
    {"brev", make_typed, "BitCount"},
    {"clz", make_typed, "BitCount"},
    {"cnot", make_typed, "Logic"},
    {"copysign", make_typed, "CopySign"},
    {"cos", make_typed, "Approximation"},
    {"createpolicy", make_typed, "CreatePolicy"},
    {"cvt", make_convert, "Convert"},
    {"div", make_typed, "Div"},
    {"dp2a", make_dot_product, "DotProduct"},
    {"dp4a", make_dot_product, "DotProduct"},
    {"elect", make_elect, "Elect"},
    {"ex2", make_typed, "Approximation"},
    {"fma", make_typed, "Fma"},
    {"lg2", make_typed, "Approximation"},
    {"lop3", make_typed, "Logic3"},
    {"mad", make_typed, "Mad"},
    {"mad24", make_typed, "Mul24"},
    {"match", make_typed, "Match"},
    {"max", make_typed, "MinMax"},
    {"min", make_typed, "MinMax"},
    {"mma", make_mma, "Mma"},
    {"mov", make_typed, "Mov"},
    {"mul", make_typed, "Mul"},
    {"mul24", make_typed, "Mul24"},
    {"neg", make_typed, "Neg"},
    {"not", make_typed, "Logic"},
    {"or", make_typed, "Logic"},
    {"popc", make_typed, "BitCount"},
    {"prmt", make_typed, "Permute"},
    {"rcp", make_typed, "Reciprocal"},
    {"redux", make_typed, "Redux"},
    {"rem", make_typed, "Rem"},
    {"rsqrt", make_typed, "Approximation"},
    {"sad", make_typed, "Sad"},
    {"selp", make_typed, "Select"},
    {"set", make_set, "Set"},
    {"setp", make_typed, "Setp"},
    {"shf", make_typed, "Shift"},
    {"shfl", make_typed, "Shuffle"},
    {"shl", make_typed, "Shift"},
    {"shr", make_typed, "Shift"},
    {"sin", make_typed, "Approximation"},
    {"slct", make_slct, "Select"},
    {"sqrt", make_typed, "SquareRoot"},
    {"sub", make_typed, "Sub"},
    {"tanh", make_typed, "Approximation"},
    {"testp", make_typed, "Testp"},
    {"vote", make_typed, "Vote"},
    {"xor", make_typed, "Logic"},
};

}  // namespace

std::span<const OpcodeRow> rows() { return kRows; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
