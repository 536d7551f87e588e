// Decoding of mma.sync.

#include "sandbox/emulator/ops/matrix.h"

#include "sandbox/emulator/ops/families.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::OperandReader;
using ops::Type;

struct Types {
  Type d, a, b, c;
};

Result<Types> take_types(Modifiers& modifiers) {
  const std::optional<Type> c = ops::take_type(modifiers), b = ops::take_type(modifiers);
  const std::optional<Type> a = ops::take_type(modifiers), d = ops::take_type(modifiers);
  if (!a || !b || !c || !d) return invalid("types of this mma are not implemented");
  return Types{*d, *a, *b, *c};
}

int take_depth(Modifiers& modifiers) {
  const std::string_view shape = modifiers.take_one_of({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (shape == "m16n8k4") return 4;
  if (shape == "m16n8k8") return 8;
  if (shape == "m16n8k16") return 16;
  return shape == "m16n8k32" ? 32 : 0;
}

// The vector's rows to the list; a single register counts as a vector of one.
void append_rows(OperandReader& reader, std::size_t index, Type type, std::size_t count, std::vector<u32>& rows) {
  const LoweredOperand& operand = reader.operand(index);
  const bool vector = operand.kind == LoweredOperand::Kind::vector;
  if ((vector ? operand.elements.size() : 1) != count) {
    reader.fail_with("operand " + std::to_string(index) + " must have " + std::to_string(count) + " registers");
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const LoweredOperand& element = vector ? operand.elements[i] : operand;
    rows.push_back(index == 0 ? reader.destination(element, type) : reader.source(element, type));
  }
}

OpFn function_of(const Types& types, int depth, bool satfinite) {
  const bool bytes = (types.a == Type::s8 || types.a == Type::u8) && (types.b == Type::s8 || types.b == Type::u8);
  if (bytes && types.d == Type::s32 && types.c == Type::s32)
    return integer_mma(types.a == Type::s8, types.b == Type::s8, satfinite, depth);
  if (types.a == types.b && types.d == Type::f32 && types.c == Type::f32 && !satfinite)
    return float_mma(types.a, depth);
  return nullptr;
}

}  // namespace

bool has_all_lanes(Warp& warp, const DecodedOp& op, u32 mask) {
  if (mask == ~0u) return true;
  report_fault(warp, op, mask, "mma needs all 32 lanes of the warp");
  return false;
}

Result<DecodedOp> make_mma(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const Result<Types> types = take_types(modifiers);
  if (!types) return because(types.error());
  if (!modifiers.take("sync") || !modifiers.take("aligned")) return invalid("needs .sync.aligned");
  const int depth = take_depth(modifiers);
  if (!modifiers.take("row") || !modifiers.take("col")) return invalid("layouts must be .row.col");
  const OpFn run = function_of(*types, depth, modifiers.take("satfinite"));
  if (run == nullptr) return invalid("this shape and these types are not implemented");

  // Values are packed into 32-bit registers; a holds 16 x depth of them, b depth x 8, over 32 lanes.
  const int in_register = types->a == Type::tf32 ? 1 : types->a == Type::bf16 || types->a == Type::f16 ? 2 : 4;
  const u32 a_count = static_cast<u32>(kRows * depth / kLanes / in_register);
  const u32 b_count = static_cast<u32>(kColumns * depth / kLanes / in_register);
  OperandReader reader(context, instruction);
  reader.expect(4);
  std::vector<u32> rows;
  append_rows(reader, 0, types->d, 4, rows);
  append_rows(reader, 1, Type::b32, a_count, rows);
  append_rows(reader, 2, Type::b32, b_count, rows);
  append_rows(reader, 3, types->c, 4, rows);
  DecodedOp op = ops::start_op({run, run}, CostClass::tensor);
  op.list = reader.list(rows);
  op.imm = packed(MatrixRegisters{4, a_count, b_count});
  return reader.finish(op);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
