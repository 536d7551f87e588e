#include "sandbox/emulator/program/lower.h"

#include <algorithm>

#include "sandbox/emulator/program/call_parameters.h"
#include "sandbox/emulator/program/instruction_facts.h"
#include "sandbox/emulator/program/lower_operand.h"
#include "sandbox/emulator/program/variables.h"

namespace onelaunch::emu {
namespace {

constexpr std::size_t kInstructionsMax = 2'000'000;  // after inlining

using ptx::Function;
using ptx::Instruction;
using PtxOperand = ptx::Operand;

class Lowering {
 public:
  Lowering(const ptx::Module& module, const Variables& variables) : module_(module), variables_(variables) {}

  Result<Kernel> run(const Function& entry) {
    if (const auto copied = copy_body(start_copy(entry, kernel_)); !copied) return because(copied.error());
    // Labels may stand behind the last instruction, and falling off the end means to return.
    KernelInstruction end;
    end.opcode = "ret";
    if (!kernel_.instructions.empty()) end.source = kernel_.instructions.back().source;
    kernel_.instructions.push_back(std::move(end));
    kernel_.param_bytes = variables_.param_bytes;
    kernel_.shared_static_bytes = variables_.shared_static_bytes;
    kernel_.local_bytes = variables_.local_bytes;
    return std::move(kernel_);
  }

 private:
  Result<void> copy_body(const FunctionCopy& copy) {
    std::vector<std::size_t> positions;
    for (const Instruction& instruction : copy.function->instructions) {
      positions.push_back(kernel_.instructions.size());
      if (kernel_.instructions.size() > kInstructionsMax) return invalid("the kernel has too many instructions");
      const auto added = instruction.opcode == "call" ? add_call(instruction, copy) : add(instruction, copy);
      if (!added) return added;
    }
    positions.push_back(kernel_.instructions.size());
    for (const auto& [label, index] : copy.labels) {
      kernel_.labels[static_cast<std::size_t>(index)] = positions[copy.function->labels.at(label)];
    }
    return {};
  }

  // cvt may name a 64-bit register for a narrower source type: its low half is meant, so that is copied out first.
  void narrow_source(KernelInstruction& instruction) {
    if (instruction.opcode != "cvt" || instruction.operands.size() < 2 || operand_bytes(instruction) > 4) return;
    KernelOperand& from = instruction.operands[1];
    if (!from.is_register() || kernel_.registers[static_cast<std::size_t>(from.reg)] != RegisterClass::row64) return;
    KernelInstruction half;
    half.source = instruction.source;
    half.opcode = "cvt";
    half.modifiers = {"u32", "u64"};
    KernelOperand low;
    low.kind = KernelOperand::Kind::reg;
    low.reg = static_cast<int>(kernel_.registers.size());
    kernel_.registers.push_back(RegisterClass::row32);
    half.operands = {low, from};
    from = low;
    kernel_.instructions.push_back(std::move(half));
  }

  KernelInstruction start(const Instruction& source, const FunctionCopy& copy) const {
    KernelInstruction result;
    result.source = &source;
    result.opcode = source.opcode;
    result.modifiers.assign(source.modifiers.begin(), source.modifiers.end());
    if (source.guard >= 0) result.guard = copy.first_register[static_cast<std::size_t>(source.guard)];
    result.guard_negated = source.guard_negated;
    return result;
  }

  Result<void> add(const Instruction& source, const FunctionCopy& copy) {
    KernelInstruction result = start(source, copy);
    if (source.opcode == "ret" && copy.return_label >= 0) {
      const bool falls_through = source.guard < 0 && &source == &copy.function->instructions.back();
      if (!falls_through) add_return(std::move(result), copy.return_label);
      return {};
    }
    if (source.opcode == "brx") return add_indexed_branch(source, copy);
    const OperandLowering operands(copy, variables_);
    for (std::size_t i = 0; i < source.operands.size(); ++i) {
      auto operand = operands.lower(source.operands[i], result, i);
      if (!operand) return because(operand.error());
      result.operands.push_back(std::move(*operand));
    }
    choose_parameter_space(result, copy);
    if (is_identity(result)) result.opcode = "mov";
    if (result.opcode == "mov" && source.opcode == "cvta") result.modifiers = {"b64"};
    narrow_source(result);
    if (result.opcode == "mov" && result.has("b128")) return add_halves(result);
    kernel_.instructions.push_back(std::move(result));
    return {};
  }

  // A 128-bit register is two rows, so that its copy is two copies.
  Result<void> add_halves(const KernelInstruction& whole) {
    for (const KernelOperand& operand : whole.operands) {
      if (operand.elements.size() != 2) return tl::unexpected<Error>(refusal(whole, "mov.b128 expects 128-bit registers or pairs of 64-bit ones"));
    }
    for (const std::size_t half : {0, 1}) {
      KernelInstruction part = whole;
      part.modifiers = {"b64"};
      for (KernelOperand& operand : part.operands) operand = KernelOperand(operand.elements[half]);
      kernel_.instructions.push_back(std::move(part));
    }
    return {};
  }

  void add_return(KernelInstruction result, int label) {
    result.opcode = "bra";
    KernelOperand target;
    target.kind = KernelOperand::Kind::label;
    target.reg = label;
    result.operands = {target};
    kernel_.instructions.push_back(std::move(result));
  }

  // brx.idx index, table: the table's labels become a vector operand.
  Result<void> add_indexed_branch(const Instruction& source, const FunctionCopy& copy) {
    KernelInstruction result = start(source, copy);
    const auto& tables = copy.function->branch_targets;
    const bool known = source.operands.size() == 2 && tables.contains(source.operands[1].name);
    if (!known || !source.has("idx")) return tl::unexpected<Error>(refusal(result, "this form of brx is not implemented"));
    auto index = OperandLowering(copy, variables_).lower(source.operands[0], result, 0);
    if (!index) return because(index.error());
    KernelOperand targets;
    targets.kind = KernelOperand::Kind::vector;
    for (const std::string& label : tables.at(source.operands[1].name)) {
      KernelOperand target;
      target.kind = KernelOperand::Kind::label;
      target.reg = copy.labels.at(label);
      targets.elements.push_back(std::move(target));
    }
    result.operands = {std::move(*index), std::move(targets)};
    kernel_.instructions.push_back(std::move(result));
    return {};
  }

  // Through a register, ld.param of a called function (and every st.param) means the call's parameters, which then live
  // in local memory; ld.param of the entry means the kernel's.
  static void choose_parameter_space(KernelInstruction& instruction, const FunctionCopy& copy) {
    const bool called = copy.return_label >= 0 || instruction.opcode == "st";
    if (!called) return;
    const bool by_register =
        instruction.opcode == "cvta" ||
        std::any_of(instruction.operands.begin(), instruction.operands.end(),
                    [](const KernelOperand& operand) { return operand.address && operand.is_register(); });
    if (by_register) parameters_are_local(instruction);
  }

  // Global, const and generic addresses are all host addresses.
  static bool is_identity(const KernelInstruction& instruction) {
    return instruction.opcode == "cvta" && (instruction.has("global") || instruction.has("const"));
  }

  Result<void> add_call(const Instruction& source, const FunctionCopy& copy) {
    KernelInstruction call = start(source, copy);
    std::vector<PtxOperand> results, parameters;
    const PtxOperand* callee = nullptr;
    for (const PtxOperand& operand : source.operands) {
      if (operand.kind == PtxOperand::Kind::symbol && callee == nullptr) {
        callee = &operand;
      } else if (operand.kind == PtxOperand::Kind::vector) {
        (callee == nullptr ? results : parameters) = operand.elements;
      } else {
        return tl::unexpected<Error>(refusal(call, "this form of call is not implemented"));
      }
    }
    auto outer_results = bind(results, copy, call);
    auto outer_parameters = bind(parameters, copy, call);
    if (!outer_results) return because(outer_results.error());
    if (!outer_parameters) return because(outer_parameters.error());
    const Function* const function = module_.find(callee->name);
    if (function != nullptr) return add_inlined(*function, call, *outer_results, *outer_parameters);
    return add_provided(callee->name, std::move(call), *outer_results, *outer_parameters);
  }

  static Result<std::vector<int>> bind(const std::vector<PtxOperand>& names, const FunctionCopy& copy,
                                       const KernelInstruction& call) {
    std::vector<int> parameters;
    for (const PtxOperand& operand : names) {
      const auto found = copy.call_parameters.find(operand.name);
      if (found == copy.call_parameters.end()) {
        return tl::unexpected<Error>(refusal(call, "calls with parameters outside .param variables are not implemented"));
      }
      parameters.push_back(found->second);
    }
    return parameters;
  }

  Result<void> add_inlined(const Function& function, const KernelInstruction& call, const std::vector<int>& results,
                           const std::vector<int>& parameters) {
    if (results.size() != function.results.size() || parameters.size() != function.parameters.size()) {
      return tl::unexpected<Error>(refusal(call, "the call of " + function.name + " does not fit its declaration"));
    }
    FunctionCopy copy = start_copy(function, kernel_);
    for (std::size_t i = 0; i < results.size(); ++i) copy.call_parameters[function.results[i].name] = results[i];
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      copy.call_parameters[function.parameters[i].name] = parameters[i];
    }
    copy.return_label = static_cast<int>(kernel_.labels.size());
    const auto return_label = static_cast<std::size_t>(copy.return_label);
    kernel_.labels.push_back(0);
    if (call.guard >= 0) {  // a guarded call: branch around it
      KernelInstruction around = call;
      around.guard_negated = !around.guard_negated;
      add_return(std::move(around), copy.return_label);
    }
    if (const auto copied = copy_body(copy); !copied) return copied;
    kernel_.labels[return_label] = kernel_.instructions.size();
    return {};
  }

  Result<void> add_provided(const std::string& name, KernelInstruction call, const std::vector<int>& results,
                            const std::vector<int>& parameters) {
    call.modifiers.clear();
    if (name == "__assertfail") {
      call.opcode = "trap";
    } else if (parameters.size() == 2 && results.size() <= 1) {
      KernelOperand operand;
      call.operands.push_back(operand);
      operand.kind = KernelOperand::Kind::call_parameter;
      for (const int parameter : {parameters[0], parameters[1]}) {
        operand.reg = parameter;
        call.operands.push_back(operand);
      }
      operand.reg = results.empty() ? -1 : results[0];
      if (!results.empty()) call.operands[0] = operand;
    } else {
      return tl::unexpected<Error>(refusal(call, "the call of " + name + " does not fit its declaration"));
    }
    kernel_.instructions.push_back(std::move(call));
    return {};
  }

  const ptx::Module& module_;
  const Variables& variables_;
  Kernel kernel_;
};

}  // namespace

Result<Kernel> lower(const ptx::Module& module, const Function& entry, const SymbolAddresses& symbols) {
  const auto variables = Variables::place(module, entry, symbols);
  if (!variables) return because(variables.error());
  auto kernel = Lowering(module, *variables).run(entry);
  if (!kernel) return kernel;
  if (const auto placed = place_call_parameters(*kernel); !placed) return because(placed.error());
  return kernel;
}

}  // namespace onelaunch::emu
