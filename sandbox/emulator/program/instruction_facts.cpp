#include "sandbox/emulator/program/instruction_facts.h"

#include <algorithm>
#include <array>

#include "sandbox/emulator/ptx/types.h"

namespace onelaunch::emu {
namespace {

constexpr std::array<std::string_view, 21> kWriteNothing{
    "st",   "red", "cp",  "membar",    "fence",          "prefetch",   "prefetchu", "discard", "trap",     "exit",          "ret",
    "bra",  "brx", "nanosleep", "griddepcontrol", "setmaxnreg", "brkpt",   "pmevent", "stmatrix", "applypriority", "tensormap"};

}  // namespace

bool KernelInstruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

bool writes_first_operand(const KernelInstruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (instruction.operands.empty() || instruction.operands[0].address) return false;
  if (opcode == "bar" || opcode == "barrier") return instruction.has("red");
  if (opcode == "wgmma") return instruction.has("mma_async");
  return std::find(kWriteNothing.begin(), kWriteNothing.end(), opcode) == kWriteNothing.end();
}

bool reads_first_operand(const KernelInstruction& instruction) { return instruction.opcode == "wgmma"; }

std::size_t operand_bytes(const KernelInstruction& instruction) {
  for (auto modifier = instruction.modifiers.rbegin(); modifier != instruction.modifiers.rend(); ++modifier) {
    if (*modifier == "pred") return 0;
    if (const std::size_t bytes = ptx::type_bytes(*modifier)) return bytes;
  }
  return 4;
}

std::size_t literal_bytes(const KernelInstruction& instruction, std::size_t index, std::size_t elements) {
  const std::string_view opcode = instruction.opcode;
  const std::size_t bytes = operand_bytes(instruction);
  if (opcode == "mov" && elements > 0) return bytes / elements;
  if (opcode == "mbarrier" || opcode == "createpolicy" || opcode == "bar" || opcode == "barrier") return 4;
  if (opcode == "shl" || opcode == "shr" || opcode == "bfe" || opcode == "vote" || opcode == "match") {
    return index >= 2 ? 4 : bytes;
  }
  if (opcode == "bfi") return index >= 3 ? 4 : bytes;
  if (instruction.has("wide")) return index >= 3 ? 2 * bytes : bytes;
  return bytes;
}

bool is_branch(const KernelInstruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode == "brx";
}

bool ends_thread(const KernelInstruction& instruction) {
  return instruction.opcode == "ret" || instruction.opcode == "exit";
}

bool ends_block(const KernelInstruction& instruction) {
  return is_branch(instruction) || ends_thread(instruction) || instruction.opcode == "trap" ||
         instruction.opcode == "barrier" || (instruction.opcode == "bar" && !instruction.has("warp"));
}

std::string full_opcode(const KernelInstruction& instruction) {
  if (instruction.source == nullptr) return std::string(instruction.opcode);
  std::string text = instruction.source->opcode;
  for (const std::string& modifier : instruction.source->modifiers) text.append(1, '.').append(modifier);
  return text;
}

Error refusal(const KernelInstruction& instruction, const std::string& what) {
  const int line = instruction.source == nullptr ? 0 : instruction.source->line;
  return Error{Error::Kind::invalid_input, "PTX line " + std::to_string(line) + ": " + what};
}

}  // namespace onelaunch::emu
