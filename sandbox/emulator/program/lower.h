#pragma once
// From text to Kernel: calls inlined, scopes and symbols resolved, register operands made virtual registers.

#include "base/result.h"
#include "sandbox/emulator/program/kernel.h"
#include "sandbox/emulator/program/program.h"
#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu {

// The kernel keeps pointers into `module`. Its last instruction ends the thread.
Result<Kernel> lower(const ptx::Module& module, const ptx::Function& entry, const SymbolAddresses& symbols);

}  // namespace onelaunch::emu
