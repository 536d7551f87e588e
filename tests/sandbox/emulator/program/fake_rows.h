#pragma once
// Stand-ins for the operations, so that lowering is tested alone. Operands 0 to 3 end in dst, a, b, c; vectors' elements
// in the operand list; imm is the first constant's value, or an address's offset.

#include <memory>
#include <string>
#include <vector>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// Parses and decodes entry "k"; fails the test when that is refused.
std::shared_ptr<const Program> decoded(const std::string& ptx, const SymbolAddresses& symbols = {});
// The message with which it is refused; empty when it is not.
std::string refusal_of(const std::string& ptx);
// A whole module around the statements of one entry "k".
std::string entry(const std::string& statements, const std::string& parameters = "");

// Operations whose source opcode starts like this, pseudo-operations left out.
std::vector<DecodedOp> ops_of(const Program& program, const std::string& opcode);
// Opcodes of all real operations, in order.
std::vector<std::string> opcodes(const Program& program);

}  // namespace onelaunch::emu
