#include "sandbox/emulator/program/lower_operand.h"

#include <bit>

#include "sandbox/emulator/program/instruction_facts.h"

namespace onelaunch::emu {
namespace {

RegisterClass class_of(const std::string& type) {
  if (type == "pred") return RegisterClass::predicate;
  return type.ends_with("64") || type == "b128" ? RegisterClass::row64 : RegisterClass::row32;
}

// Literals of floats carry their own width; an instruction of the other width converts them.
KernelOperand literal(const ptx::Operand& operand, std::size_t bytes) {
  std::uint64_t value = operand.value;
  if (operand.kind == ptx::Operand::Kind::real && operand.wide && bytes == 4) {
    value = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
  } else if (operand.kind == ptx::Operand::Kind::real && !operand.wide && bytes == 8) {
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(value));
    value = std::bit_cast<std::uint64_t>(static_cast<double>(narrow));
  }
  return constant_operand(value, bytes);
}

}  // namespace

KernelOperand constant_operand(std::uint64_t value, std::size_t bytes) {
  KernelOperand result;
  result.kind = KernelOperand::Kind::constant;
  if (bytes == 0) {
    result.shape = RegisterClass::predicate;
    result.value = value != 0;
  } else if (bytes < 8) {
    result.value = value & ((std::uint64_t{1} << (8 * bytes)) - 1);
  } else {
    result.shape = RegisterClass::row64;
    result.value = value;
  }
  return result;
}

FunctionCopy start_copy(const ptx::Function& function, Kernel& kernel) {
  FunctionCopy copy;
  copy.function = &function;
  for (const ptx::Register& declared : function.registers) {
    copy.first_register.push_back(static_cast<int>(kernel.registers.size()));
    kernel.registers.push_back(class_of(declared.type));
    if (declared.type == "b128") kernel.registers.push_back(RegisterClass::row64);
  }
  for (const auto& [label, position] : function.labels) {
    copy.labels[label] = static_cast<int>(kernel.labels.size());
    kernel.labels.push_back(0);
  }
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space != ptx::Space::param) continue;
    copy.call_parameters[variable.name] = static_cast<int>(kernel.call_parameters.size());
    kernel.call_parameters.push_back({variable.bytes, variable.alignment});
  }
  return copy;
}

Result<KernelOperand> OperandLowering::lower(const ptx::Operand& operand, const KernelInstruction& instruction,
                                             std::size_t index) const {
  using Kind = ptx::Operand::Kind;
  switch (operand.kind) {
    case Kind::reg: return lower_register(operand, instruction);
    case Kind::integer:
    case Kind::real: return literal(operand, literal_bytes(instruction, index, 0));
    case Kind::symbol: return lower_symbol(operand, instruction);
    case Kind::vector: return lower_vector(operand, instruction, index);
    case Kind::address: return lower_address(operand, instruction);
    case Kind::special: {
      KernelOperand result;
      result.kind = KernelOperand::Kind::special;
      result.special = operand.name;
      return result;
    }
    case Kind::sink: break;
  }
  return KernelOperand{};
}

Result<KernelOperand> OperandLowering::lower_register(const ptx::Operand& operand,
                                                      const KernelInstruction& instruction) const {
  const auto index = static_cast<std::size_t>(operand.index);
  KernelOperand result;
  result.kind = KernelOperand::Kind::reg;
  result.reg = copy_.first_register[index];
  result.negated = operand.negated;
  const std::string& type = copy_.function->registers[index].type;
  if (operand.negated && type != "pred") {
    return tl::unexpected<Error>(refusal(instruction, "only predicates can be negated with '!'"));
  }
  if (type != "b128") return result;
  KernelOperand halves;
  halves.kind = KernelOperand::Kind::vector;
  halves.elements = {result, result};
  halves.elements[1].reg += 1;
  return halves;
}

Result<KernelOperand> OperandLowering::lower_vector(const ptx::Operand& operand, const KernelInstruction& instruction,
                                                    std::size_t index) const {
  KernelOperand result;
  result.kind = KernelOperand::Kind::vector;
  for (const ptx::Operand& element : operand.elements) {
    const bool number = element.kind == ptx::Operand::Kind::integer || element.kind == ptx::Operand::Kind::real;
    auto lowered = number ? literal(element, literal_bytes(instruction, index, operand.elements.size()))
                          : lower(element, instruction, index);
    if (!lowered) return lowered;
    result.elements.push_back(std::move(*lowered));
  }
  return result;
}

Result<KernelOperand> OperandLowering::lower_symbol(const ptx::Operand& operand,
                                                    const KernelInstruction& instruction) const {
  if (is_branch(instruction)) {
    KernelOperand label;
    label.kind = KernelOperand::Kind::label;
    label.reg = copy_.labels.at(operand.name);  // the parser has refused unknown labels
    return label;
  }
  const auto parameter = copy_.call_parameters.find(operand.name);
  if (parameter != copy_.call_parameters.end()) {
    KernelOperand result;
    result.kind = KernelOperand::Kind::call_parameter;
    result.reg = parameter->second;
    result.offset = operand.offset;
    return result;
  }
  const Variables::Address* const address = variables_.find(*copy_.function, operand.name);
  if (address == nullptr) {
    return tl::unexpected<Error>(refusal(instruction, "symbol " + operand.name + " is not defined"));
  }
  const auto value = address->value + static_cast<std::uint64_t>(operand.offset);
  return constant_operand(value, operand_bytes(instruction) == 8 ? 8 : 4);
}

Result<KernelOperand> OperandLowering::lower_address(const ptx::Operand& operand,
                                                     const KernelInstruction& instruction) const {
  if (!operand.elements.empty()) {
    return tl::unexpected<Error>(refusal(instruction, "addresses with tensor coordinates are not implemented"));
  }
  Result<KernelOperand> base = constant_operand(0, 8);
  if (operand.index >= 0) {
    base = lower_register(operand, instruction);
  } else if (!operand.name.empty()) {
    const Variables::Address* const address = variables_.find(*copy_.function, operand.name);
    const bool parameter = copy_.call_parameters.contains(operand.name);
    if (parameter) {
      base = KernelOperand{};
      base->kind = KernelOperand::Kind::call_parameter;
      base->reg = copy_.call_parameters.at(operand.name);
    } else if (address == nullptr) {
      return tl::unexpected<Error>(refusal(instruction, "symbol " + operand.name + " is not defined"));
    } else {
      base = constant_operand(address->value, address->space == ptx::Space::global ? 8 : 4);
    }
  }
  if (!base) return base;
  base->address = true;
  base->offset = operand.offset;
  return base;
}

}  // namespace onelaunch::emu
