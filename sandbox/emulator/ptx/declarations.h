#pragma once
// Declarations: variables with their initialisers, and registers.

#include <vector>

#include "sandbox/emulator/ptx/lexer.h"
#include "sandbox/emulator/ptx/module.h"
#include "sandbox/emulator/ptx/scopes.h"

namespace onelaunch::emu::ptx {

// Behind ".global", ".shared", ...: "[.align n] .type name[dims] [= initialiser]", and what follows after commas.
// Does not read the ';'.
void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& variables);

// One of a parameter list, behind ".param" (or ".reg").
Variable parse_parameter(Lexer& lexer);

// Behind ".reg": ".b32 %r<12>, x;" with its ';'.
void parse_registers(Lexer& lexer, Scopes& scopes, std::vector<Register>& registers);

}  // namespace onelaunch::emu::ptx
