#pragma once
// Basic blocks of a kernel, who dominates whom, and where divergent lanes meet again.

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/program/kernel.h"

namespace onelaunch::emu {

struct FlowBlock {
  std::size_t first = 0, end = 0;         // instructions [first, end)
  std::vector<int> successors;
  bool leaves = false;                    // may end the thread
  bool reachable = false;
  int dominator = -1;                     // immediate; -1 of the first block
  int reconvergence = -1;                 // immediate post-dominator; -1 when that is the exit
};

struct FlowGraph {
  std::vector<FlowBlock> blocks;          // in text order
  std::vector<int> block_of;              // of each instruction
  // Whether block a dominates block b (both reachable).
  bool dominates(int a, int b) const;
  std::vector<int> depth;                 // in the dominator tree
};

FlowGraph build_flow_graph(const Kernel& kernel);

}  // namespace onelaunch::emu
