#pragma once
// The natural loops of machine code.

#include <cstddef>
#include <vector>

#include "sandbox/host/sass.h"

namespace onelaunch::sandbox {

struct SassLoop {
  std::size_t first = 0, last = 0;        // instructions: the lowest and the highest of its body
  int depth = 1;                          // 1: in no other loop
  std::vector<std::size_t> own;           // its instructions, without those of loops inside it
};

// Loops of more than one instruction. Calls are taken to return, indirect branches to end the function.
std::vector<SassLoop> find_loops(const std::vector<SassInstruction>& code);

}  // namespace onelaunch::sandbox
