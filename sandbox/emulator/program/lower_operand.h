#pragma once
// One copy of a function's body within the kernel, and its operands' translation.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/program/kernel.h"
#include "sandbox/emulator/program/variables.h"
#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu {

struct FunctionCopy {
  const ptx::Function* function = nullptr;
  std::vector<int> first_register;             // of each of the function's registers; b128 takes two
  std::map<std::string, int> labels;           // index into Kernel::labels
  std::map<std::string, int> call_parameters;  // its formal parameters and the .param variables of its own calls
  int return_label = -1;                       // -1 in the entry
};

// A new copy with fresh registers, labels and call parameters; formal parameters are bound by the caller.
FunctionCopy start_copy(const ptx::Function& function, Kernel& kernel);

class OperandLowering {
 public:
  OperandLowering(const FunctionCopy& copy, const Variables& variables) : copy_(copy), variables_(variables) {}

  // Operand `index` of `instruction`, whose opcode and modifiers are already set.
  Result<KernelOperand> lower(const ptx::Operand& operand, const KernelInstruction& instruction,
                              std::size_t index) const;

 private:
  Result<KernelOperand> lower_register(const ptx::Operand& operand, const KernelInstruction& instruction) const;
  Result<KernelOperand> lower_symbol(const ptx::Operand& operand, const KernelInstruction& instruction) const;
  Result<KernelOperand> lower_vector(const ptx::Operand& operand, const KernelInstruction& instruction,
                                     std::size_t index) const;
  Result<KernelOperand> lower_address(const ptx::Operand& operand, const KernelInstruction& instruction) const;

  const FunctionCopy& copy_;
  const Variables& variables_;
};

// A number of `bytes` bytes (0: a predicate), cut to its width.
KernelOperand constant_operand(std::uint64_t value, std::size_t bytes);

}  // namespace onelaunch::emu
