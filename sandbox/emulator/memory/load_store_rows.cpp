// ld, ldu, st: from modifiers to the operation that runs.
#include <bit>
#include <span>

#include "sandbox/emulator/async/rows.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/load_store.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

using Kind = LoweredOperand::Kind;

// Elements of a register operand: itself, or those of a vector. A 128-bit register is a vector of two 64-bit rows.
std::span<const LoweredOperand> elements_of(const LoweredOperand& operand) {
  if (operand.kind == Kind::vector) return operand.elements;
  return {&operand, 1};
}

// Registers' width: that of the first element that is there.
bool is_wide(std::span<const LoweredOperand> elements, bool otherwise) {
  for (const LoweredOperand& element : elements) {
    if (element.kind == Kind::row32 && !element.constant) return false;
    if (element.kind == Kind::row64 && !element.constant) return true;
  }
  return otherwise;
}

Result<AccessForm> take_form(Modifiers& modifiers, std::span<const LoweredOperand> elements) {
  AccessForm form;
  const Result<ElementType> type = take_type(modifiers);
  if (!type) return because(type.error());
  form.space = take_space(modifiers);
  form.strong = take_order(modifiers);
  take_cache_hints(modifiers);
  unsigned count = take_vector(modifiers), bytes = type->bytes;
  if (bytes == 16) bytes = 8, count *= 2;
  if (elements.size() != count) {
    return invalid("expects " + std::to_string(count) + " registers, got " + std::to_string(elements.size()));
  }
  form.count = static_cast<std::uint8_t>(count);
  form.element_log2 = static_cast<std::uint8_t>(std::countr_zero(bytes));
  form.sign_extend = type->is_signed && bytes < 8;
  form.wide_register = is_wide(elements, bytes == 8);
  if (bytes == 8 && !form.wide_register) return invalid("64-bit elements need 64-bit registers");
  return form;
}

// Rows of the elements into op.list, or into `single` when there is one.
bool set_elements(DecodeContext& context, std::span<const LoweredOperand> elements, bool wide, DecodedOp& op, std::uint32_t& single) {
  std::vector<std::uint32_t> rows;
  bool sinks = false;
  for (const LoweredOperand& element : elements) {
    rows.push_back(value_row(context, element, wide));
    sinks = sinks || rows.back() == kNoOperand;
  }
  if (rows.size() == 1) single = rows[0];
  else op.list = context.add_list(rows);
  return sinks;
}

}  // namespace

Result<DecodedOp> decode_load(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() < 2) return invalid("expects a destination and an address");
  const std::span<const LoweredOperand> elements = elements_of(instruction.operands[0]);
  const bool past_l1 = bypasses_l1(modifiers);
  Result<AccessForm> form = take_form(modifiers, elements);
  if (!form) return because(form.error());
  form->past_l1 = past_l1;
  DecodedOp op;
  op.cost = form->space == MemorySpace::param ? CostClass::free_op : CostClass::load_store;
  op.bytes = static_cast<std::uint8_t>(form->count << form->element_log2);
  set_address(context, instruction.operands[1], *form, op);
  const bool sinks = set_elements(context, elements, form->wide_register, op, op.dst);
  const bool polls = form->strong && form->space != MemorySpace::local && form->space != MemorySpace::param;
  op.extra = form->pack();
  op.control = polls ? Control::poll : Control::none;
  op.masked = polls ? &poll_load : sinks ? &load_carefully : pick_load(*form);
  op.full = op.masked;
  return op;
}

Result<DecodedOp> decode_store(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (modifiers.take("async")) return decode_async_store(context, instruction, modifiers);
  if (instruction.operands.size() < 2) return invalid("expects an address and a value");
  const std::span<const LoweredOperand> elements = elements_of(instruction.operands[1]);
  Result<AccessForm> form = take_form(modifiers, elements);
  if (!form) return because(form.error());
  DecodedOp op;
  op.cost = CostClass::load_store;
  op.bytes = static_cast<std::uint8_t>(form->count << form->element_log2);
  set_address(context, instruction.operands[0], *form, op);
  const bool sinks = set_elements(context, elements, form->wide_register, op, op.b);
  if (sinks) return invalid("a sink cannot be stored");
  op.extra = form->pack();
  op.masked = form->strong ? &store_carefully : pick_store(*form);
  op.full = op.masked;
  return op;
}

}  // namespace onelaunch::emu
