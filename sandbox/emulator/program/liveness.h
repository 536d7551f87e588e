#pragma once
// From where to where in the text each virtual register holds a value.

#include <cstddef>
#include <vector>

#include "sandbox/emulator/program/flow_graph.h"
#include "sandbox/emulator/program/kernel.h"

namespace onelaunch::emu {

struct Interval {
  std::size_t first = 1, last = 0;  // instructions, inclusive; empty when the register is never touched
  bool empty() const { return first > last; }
};

// One per virtual register.
std::vector<Interval> find_intervals(const Kernel& kernel, const FlowGraph& graph);

}  // namespace onelaunch::emu
