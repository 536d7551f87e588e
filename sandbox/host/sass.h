#pragma once
// Reads the text that nvdisasm -c and cuobjdump -sass print.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/host/profile.h"

namespace onelaunch::sandbox {

struct SassInstruction {
  std::uint64_t address = 0;
  bool predicated = false;
  std::string opcode;                     // "LDG.E.128"
  std::string operands;                   // "R4, desc[UR4][R2.64]"
  std::int64_t target = -1;               // of a branch: the index of the instruction it goes to; -1: none or not known
};

// The instructions of one function in order; empty when the text has none of that name.
std::vector<SassInstruction> parse_sass(std::string_view text, const std::string& function);

// "LDG.E.128" is of the class "LDG".
std::string sass_class(const std::string& opcode);
// What executes it: "memory", "fma", "alu", "tensor", "special", "uniform", "control", "other". A table by opcode; the
// machine may be finer.
const char* sass_pipe(const std::string& sass_class);

// Counts, and the loops: sets of instructions that a branch back to a dominating one closes. A loop's own instructions
// leave out those of loops inside it. The hottest come first: by own instructions times eight for every loop around them.
SassReport sass_report(std::string_view text, const std::string& function);

}  // namespace onelaunch::sandbox
