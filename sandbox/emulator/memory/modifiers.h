#pragma once
// What the memory operations' modifiers have in common: spaces, element types, orders, cache hints.

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/emulator/memory/form.h"
#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu {

MemorySpace take_space(Modifiers& modifiers);     // generic when none is given; constant memory is global memory
bool take_order(Modifiers& modifiers);            // weak, relaxed, ... and scopes; true if others may wait for it
void take_cache_hints(Modifiers& modifiers);      // .ca .cg L1:: L2:: .nc ...: nothing here depends on them
bool bypasses_l1(const Modifiers& modifiers);     // whether the hints say that the line is not kept in L1; takes nothing
unsigned take_vector(Modifiers& modifiers);       // 1, 2, 4 or 8

struct ElementType {
  std::string name;                               // "bf16x2"
  unsigned bytes = 4;                             // 16 for b128
  bool is_signed = false;
};
Result<ElementType> take_type(Modifiers& modifiers);  // the last modifier

// Address operand of `operand` into op.a, op.imm and the form.
void set_address(DecodeContext& context, const LoweredOperand& operand, AccessForm& form, DecodedOp& op);
// A value operand as a row of the width that the form asks for.
std::uint32_t value_row(DecodeContext& context, const LoweredOperand& operand, bool wide);

}  // namespace onelaunch::emu
