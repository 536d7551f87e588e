#pragma once
// Constants and copies: a register with one definition that only copies is replaced by what it copies.

#include "sandbox/emulator/program/flow_graph.h"
#include "sandbox/emulator/program/kernel.h"

namespace onelaunch::emu {

// Marks instructions that became useless as removed; indices stay.
void propagate(Kernel& kernel, const FlowGraph& graph);

}  // namespace onelaunch::emu
