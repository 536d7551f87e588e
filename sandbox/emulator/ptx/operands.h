#pragma once
// Operands of an instruction, and number literals.

#include <string_view>

#include "sandbox/emulator/ptx/lexer.h"
#include "sandbox/emulator/ptx/module.h"
#include "sandbox/emulator/ptx/scopes.h"

namespace onelaunch::emu::ptx {

// A possibly negative literal: kind integer, or real with the bits of its float (0f) or double (0d, 1.5).
Operand parse_number(Lexer& lexer);

// One operand, with what follows it: "%r|%p", "symbol+4".
Operand parse_operand(Lexer& lexer, const Scopes& scopes);

}  // namespace onelaunch::emu::ptx
