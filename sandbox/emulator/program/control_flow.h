#pragma once
// Operations that the run loop executes itself: branches, ends of threads, traps, calls of vprintf, pseudo-operations.

#include "base/result.h"
#include "sandbox/emulator/program/kernel.h"
#include "sandbox/emulator/program/opcode_table.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// Whether decode_control() knows the opcode.
bool is_control(std::string_view opcode);

// All but guard, site, target, imm of branches and the operand list of brx, which need the layout of the program.
Result<DecodedOp> decode_control(const KernelInstruction& instruction, const LoweredInstruction& lowered);

DecodedOp pseudo_op(Control control);

}  // namespace onelaunch::emu
