#include "sandbox/emulator/program/call_parameters.h"

#include <map>

#include "sandbox/emulator/program/instruction_facts.h"
#include "sandbox/emulator/program/lower_operand.h"

namespace onelaunch::emu {
namespace {

using Kind = KernelOperand::Kind;

struct Place {
  bool in_memory = false;
  std::map<std::int64_t, std::size_t> pieces;  // offset -> bytes, while in registers
  std::map<std::int64_t, int> registers;       // offset -> virtual register
  std::uint64_t local_offset = 0;
};

bool is_parameter(const KernelOperand& operand) { return operand.kind == Kind::call_parameter; }

// Register classes of the values that a load or store moves must be those of the pieces.
bool fits(const KernelOperand& value, std::size_t bytes, const Kernel& kernel) {
  if (value.kind == Kind::none || value.kind == Kind::constant) return true;
  if (!value.is_register()) return false;
  const RegisterClass shape = kernel.registers[static_cast<std::size_t>(value.reg)];
  return shape == (bytes == 8 ? RegisterClass::row64 : RegisterClass::row32);
}

class Placement {
 public:
  explicit Placement(Kernel& kernel) : kernel_(kernel), places_(kernel.call_parameters.size()) {}

  Result<void> run() {
    for (const KernelInstruction& instruction : kernel_.instructions) note(instruction);
    for (std::size_t i = 0; i < places_.size(); ++i) settle(places_[i], kernel_.call_parameters[i]);
    return rewrite();
  }

 private:
  Place& place(const KernelOperand& operand) { return places_[static_cast<std::size_t>(operand.reg)]; }

  static bool is_access(const KernelInstruction& instruction) {
    return (instruction.opcode == "ld" || instruction.opcode == "st") && instruction.operands.size() == 2;
  }
  static std::size_t value_index(const KernelInstruction& instruction) { return instruction.opcode == "ld" ? 0 : 1; }

  static std::vector<KernelOperand> values_of(const KernelInstruction& access) {
    const KernelOperand& value = access.operands[value_index(access)];
    return value.kind == Kind::vector ? value.elements : std::vector<KernelOperand>{value};
  }

  void note(const KernelInstruction& instruction) {
    if (instruction.opcode == "call") {  // of vprintf: int result, two pointers
      for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        if (is_parameter(instruction.operands[i])) add_piece(place(instruction.operands[i]), 0, i == 0 ? 4 : 8);
      }
      return;
    }
    for (const KernelOperand& operand : instruction.operands) {
      if (!is_parameter(operand)) continue;
      if (operand.address && is_access(instruction)) {
        note_access(instruction, operand);
      } else {
        place(operand).in_memory = true;  // its address is taken
      }
    }
  }

  void note_access(const KernelInstruction& access, const KernelOperand& address) {
    const std::size_t bytes = operand_bytes(access);
    Place& at = place(address);
    std::int64_t offset = address.offset;
    if (bytes < 2 || bytes > 8 || access.has("s16")) at.in_memory = true;
    for (const KernelOperand& value : values_of(access)) {
      if (!fits(value, bytes, kernel_)) at.in_memory = true;
      add_piece(at, offset, bytes);
      offset += static_cast<std::int64_t>(bytes);
    }
  }

  static void add_piece(Place& at, std::int64_t offset, std::size_t bytes) {
    const auto [piece, fresh] = at.pieces.try_emplace(offset, bytes);
    if (!fresh && piece->second != bytes) at.in_memory = true;
  }

  void settle(Place& at, const CallParameter& parameter) {
    std::int64_t free_from = 0;
    for (const auto& [offset, bytes] : at.pieces) {
      at.in_memory |= offset < free_from;
      free_from = offset + static_cast<std::int64_t>(bytes);
    }
    if (!at.in_memory) {
      for (const auto& [offset, bytes] : at.pieces) {
        at.registers[offset] = static_cast<int>(kernel_.registers.size());
        kernel_.registers.push_back(bytes == 8 ? RegisterClass::row64 : RegisterClass::row32);
      }
      return;
    }
    const auto alignment = static_cast<std::uint32_t>(parameter.alignment);
    at.local_offset = (kernel_.local_bytes + alignment - 1) / alignment * alignment;
    kernel_.local_bytes = static_cast<std::uint32_t>(at.local_offset + parameter.bytes);
  }

  Result<void> rewrite() {
    std::vector<KernelInstruction> old = std::move(kernel_.instructions);
    kernel_.instructions.clear();
    kernel_.instructions.reserve(old.size());
    std::vector<std::size_t> moved_to;
    moved_to.reserve(old.size() + 1);
    for (KernelInstruction& instruction : old) {
      moved_to.push_back(kernel_.instructions.size());
      if (const auto done = rewrite(std::move(instruction)); !done) return done;
    }
    moved_to.push_back(kernel_.instructions.size());
    for (std::size_t& label : kernel_.labels) label = moved_to[label];
    return {};
  }

  Result<void> rewrite(KernelInstruction instruction) {
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      KernelOperand& operand = instruction.operands[i];
      if (!is_parameter(operand)) continue;
      const Place& at = place(operand);
      if (instruction.opcode == "call") {
        if (at.in_memory) return tl::unexpected<Error>(refusal(instruction, "this call of vprintf is not implemented"));
        operand.kind = Kind::reg;
        operand.reg = at.registers.at(0);
      } else if (!at.in_memory) {
        add_moves(instruction, at, operand.offset);
        return {};
      } else {
        put_in_memory(instruction, operand, at);
      }
    }
    kernel_.instructions.push_back(std::move(instruction));
    return {};
  }

  static void put_in_memory(KernelInstruction& instruction, KernelOperand& operand, const Place& at) {
    KernelOperand constant = constant_operand(at.local_offset, operand.address ? 4 : 8);
    constant.address = operand.address;
    constant.offset = operand.offset;
    if (!operand.address) constant.value += static_cast<std::uint64_t>(operand.offset);
    operand = std::move(constant);
    if (operand.address) parameters_are_local(instruction);
  }

  void add_moves(const KernelInstruction& access, const Place& at, std::int64_t offset) {
    const std::size_t bytes = operand_bytes(access);
    for (const KernelOperand& value : values_of(access)) {
      KernelOperand parameter;
      parameter.kind = Kind::reg;
      parameter.reg = at.registers.at(offset);
      KernelInstruction move = access;
      move.opcode = "mov";
      move.modifiers = {bytes == 8 ? "b64" : bytes == 4 ? "b32" : "b16"};
      move.operands = access.opcode == "ld" ? std::vector{value, parameter} : std::vector{parameter, value};
      if (value.kind != Kind::none) kernel_.instructions.push_back(std::move(move));
      offset += static_cast<std::int64_t>(bytes);
    }
  }

  Kernel& kernel_;
  std::vector<Place> places_;
};

}  // namespace

void parameters_are_local(KernelInstruction& instruction) {
  for (std::string_view& modifier : instruction.modifiers) {
    if (modifier == "param" || modifier == "param::func") modifier = "local";
  }
}

Result<void> place_call_parameters(Kernel& kernel) { return Placement(kernel).run(); }

}  // namespace onelaunch::emu
