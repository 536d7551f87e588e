#include "sandbox/emulator/program/control_flow.h"

#include <algorithm>
#include <array>

namespace onelaunch::emu {
namespace {

void do_nothing(Warp&, const DecodedOp&, std::uint32_t) {}

struct ControlOpcode {
  std::string_view opcode;
  Control control;
  CostClass cost;
};

constexpr std::array<ControlOpcode, 6> kControlOpcodes{{
    {"bra", Control::branch, CostClass::branch},
    {"brx", Control::branch_indexed, CostClass::branch},
    {"ret", Control::exit, CostClass::branch},
    {"exit", Control::exit, CostClass::branch},
    {"trap", Control::trap, CostClass::branch},
    {"call", Control::print, CostClass::branch},
}};

const ControlOpcode* find(std::string_view opcode) {
  const auto found = std::find_if(kControlOpcodes.begin(), kControlOpcodes.end(),
                                  [opcode](const ControlOpcode& row) { return row.opcode == opcode; });
  return found == kControlOpcodes.end() ? nullptr : &*found;
}

}  // namespace

bool is_control(std::string_view opcode) { return find(opcode) != nullptr; }

DecodedOp pseudo_op(Control control) {
  DecodedOp op;
  op.full = op.masked = do_nothing;
  op.control = control;
  op.cost = CostClass::free_op;
  return op;
}

Result<DecodedOp> decode_control(const KernelInstruction& instruction, const LoweredInstruction& lowered) {
  const ControlOpcode& row = *find(lowered.opcode);
  DecodedOp op = pseudo_op(row.control);
  op.cost = row.cost;
  for (const std::string_view modifier : lowered.modifiers) {
    const bool known = modifier == "uni" || (modifier == "idx" && lowered.opcode == "brx");
    if (!known) {
      return invalid("modifier ." + std::string(modifier) + " of " + std::string(lowered.opcode) + " is not implemented");
    }
  }
  if (row.control == Control::branch || row.control == Control::branch_indexed) op.extra = instruction.has("uni") ? 1 : 0;
  if (row.control == Control::branch_indexed) {
    if (lowered.operands[0].kind != LoweredOperand::Kind::row32) return invalid("the index of brx must have 32 bits");
    op.a = lowered.operands[0].offset;
  }
  if (row.control == Control::print) {
    op.dst = lowered.operands[0].offset;
    op.a = lowered.operands[1].offset;
    op.b = lowered.operands[2].offset;
  }
  return op;
}

}  // namespace onelaunch::emu
