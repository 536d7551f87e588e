#pragma once
// What lowering must know of an instruction without knowing what it computes.

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/emulator/program/kernel.h"

namespace onelaunch::emu {

// Whether operand 0 is written.
bool writes_first_operand(const KernelInstruction& instruction);
// Whether operand 0 is read as well (accumulators of wgmma).
bool reads_first_operand(const KernelInstruction& instruction);

// Bytes of the instruction's type (its last type modifier); 0 for .pred; 4 without one.
std::size_t operand_bytes(const KernelInstruction& instruction);
// Bytes of a literal as operand `index`; `elements`: of the vector it stands in, 0 when in none. 0: a predicate.
std::size_t literal_bytes(const KernelInstruction& instruction, std::size_t index, std::size_t elements);

bool is_branch(const KernelInstruction& instruction);        // bra, brx
bool ends_thread(const KernelInstruction& instruction);      // ret, exit
bool ends_block(const KernelInstruction& instruction);       // those, trap, and block barriers

// "ld.global.u32", as the source says it.
std::string full_opcode(const KernelInstruction& instruction);
// "line 123: ...", an error about this instruction.
Error refusal(const KernelInstruction& instruction, const std::string& what);

}  // namespace onelaunch::emu
