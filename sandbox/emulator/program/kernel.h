#pragma once
// One entry between text and decoded form: calls inlined, names resolved, registers still virtual and unlimited.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu {

enum class RegisterClass : std::uint8_t { predicate, row32, row64 };  // 8- and 16-bit registers are row32

struct KernelOperand {
  enum class Kind : std::uint8_t {
    none,            // the sink _
    reg,             // reg: virtual register
    constant,        // value, of class `shape`
    special,         // special: "%tid.x"
    label,           // reg: index into Kernel::labels
    call_parameter,  // reg: index into Kernel::call_parameters; gone after place_call_parameters()
    vector,          // elements
  };
  Kind kind = Kind::none;
  RegisterClass shape = RegisterClass::row32;
  bool address = false;       // [operand + offset]
  bool negated = false;       // !%p
  int reg = -1;
  std::uint64_t value = 0;
  std::int64_t offset = 0;
  std::string_view special;
  std::vector<KernelOperand> elements;

  bool is_register() const { return kind == Kind::reg; }
};

struct KernelInstruction {
  const ptx::Instruction* source = nullptr;
  std::string_view opcode;                  // differs from the source's where lowering rewrote it
  std::vector<std::string_view> modifiers;
  int guard = -1;                           // virtual predicate register
  bool guard_negated = false;
  bool removed = false;
  std::vector<KernelOperand> operands;

  bool has(std::string_view modifier) const;
};

// A .param variable of a call: lives in registers, or else in local memory.
struct CallParameter {
  std::size_t bytes = 0, alignment = 1;
};

struct Kernel {
  std::vector<KernelInstruction> instructions;
  std::vector<RegisterClass> registers;
  std::vector<std::size_t> labels;          // index of the instruction
  std::vector<CallParameter> call_parameters;
  std::uint32_t param_bytes = 0, shared_static_bytes = 0, local_bytes = 0;
};

}  // namespace onelaunch::emu
