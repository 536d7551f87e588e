#pragma once
// Gives the .param variables of calls a place: registers where every access fits one, else local memory.

#include "base/result.h"
#include "sandbox/emulator/program/kernel.h"

namespace onelaunch::emu {

// Replaces every operand of kind call_parameter. May insert instructions; labels follow.
Result<void> place_call_parameters(Kernel& kernel);

// Turns ".param" of an instruction into ".local".
void parameters_are_local(KernelInstruction& instruction);

}  // namespace onelaunch::emu
