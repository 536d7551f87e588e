#include "sandbox/emulator/program/propagate.h"

#include <functional>
#include <optional>

#include "sandbox/emulator/program/instruction_facts.h"
#include "sandbox/emulator/program/lower_operand.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {
namespace {

using Kind = KernelOperand::Kind;

template <class Operand, class Visit>
void for_each_register(Operand& operand, const Visit& visit) {
  if (operand.kind == Kind::reg) visit(operand);
  for (auto& element : operand.elements) for_each_register(element, visit);
}

class Propagation {
 public:
  Propagation(Kernel& kernel, const FlowGraph& graph)
      : kernel_(kernel), graph_(graph), definitions_(kernel.registers.size()), constants_(kernel.registers.size()) {}

  void run() {
    find_definitions();
    // Constants feed constants; text order finds nearly all at once.
    for (bool changed = true; changed;) changed = find_constants();
    replace_constants();
    find_copies();
    replace_copies();
    remove_unused();
  }

 private:
  struct Definition {
    int count = 0;
    std::size_t instruction = 0;
  };
  static std::size_t at(int reg) { return static_cast<std::size_t>(reg); }

  template <class Visit>
  void for_each_definition(KernelInstruction& instruction, const Visit& visit) {
    if (writes_first_operand(instruction)) for_each_register(instruction.operands[0], visit);
  }
  template <class Visit>
  void for_each_use(KernelInstruction& instruction, const Visit& visit) {
    for (std::size_t i = writes_first_operand(instruction) ? 1 : 0; i < instruction.operands.size(); ++i) {
      for_each_register(instruction.operands[i], visit);
    }
  }

  void find_definitions() {
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      for_each_definition(kernel_.instructions[i], [&](const KernelOperand& operand) {
        ++definitions_[at(operand.reg)].count;
        definitions_[at(operand.reg)].instruction = i;
      });
    }
  }

  // Whether this instruction is the only definition of one register, for every lane.
  bool defines_once(const KernelInstruction& instruction) const {
    return !instruction.removed && instruction.guard < 0 && writes_first_operand(instruction) &&
           instruction.operands[0].is_register() && definitions_[at(instruction.operands[0].reg)].count == 1;
  }

  std::optional<std::uint64_t> value_of(const KernelOperand& operand) const {
    if (operand.kind == Kind::constant && !operand.address) return operand.value;
    if (operand.is_register() && !operand.negated && !operand.address) return constants_[at(operand.reg)];
    return std::nullopt;
  }

  bool is_plain_move(const KernelInstruction& instruction) const {
    return instruction.opcode == "mov" && instruction.operands.size() == 2 && instruction.modifiers.size() == 1;
  }

  std::optional<std::uint64_t> evaluate(const KernelInstruction& instruction) const {
    if (instruction.operands.size() < 2) return std::nullopt;
    const auto first = value_of(instruction.operands[1]);
    if (!first) return std::nullopt;
    if (is_plain_move(instruction)) return first;
    if (instruction.opcode == "cvta" && !instruction.has("to")) {
      if (instruction.has("shared") || instruction.has("shared::cta")) return *first + kSharedWindow;
      if (instruction.has("local")) return *first + kLocalWindow;
      if (instruction.has("param")) return *first + kParamWindow;
    }
    const bool plain = instruction.modifiers.size() == 1 && instruction.modifiers[0][0] != 'f' &&
                       instruction.modifiers[0].size() == 3 && operand_bytes(instruction) >= 4;
    if (instruction.opcode == "add" && plain && instruction.operands.size() == 3) {
      if (const auto second = value_of(instruction.operands[2])) return *first + *second;
    }
    const bool unsigned_widths = instruction.modifiers.size() == 2 && instruction.has("u32") && instruction.has("u64");
    if (instruction.opcode == "cvt" && unsigned_widths) return first;
    return std::nullopt;
  }

  std::size_t bytes_of(int reg) const {
    const RegisterClass shape = kernel_.registers[at(reg)];
    return shape == RegisterClass::predicate ? 0 : shape == RegisterClass::row32 ? 4 : 8;
  }

  bool find_constants() {
    bool found = false;
    for (const KernelInstruction& instruction : kernel_.instructions) {
      if (!defines_once(instruction)) continue;
      const int reg = instruction.operands[0].reg;
      if (constants_[at(reg)]) continue;
      if (const auto value = evaluate(instruction)) {
        constants_[at(reg)] = constant_operand(*value, bytes_of(reg)).value;
        found = true;
      }
    }
    return found;
  }

  void replace_constants() {
    for (KernelInstruction& instruction : kernel_.instructions) {
      for_each_use(instruction, [this](KernelOperand& operand) {
        const auto value = constants_[at(operand.reg)];
        if (!value) return;
        KernelOperand constant = constant_operand(*value, bytes_of(operand.reg));
        if (operand.negated) constant.value = constant.value == 0;
        constant.address = operand.address;
        constant.offset = operand.offset;
        operand = std::move(constant);
      });
    }
  }

  bool before(std::size_t a, std::size_t b) const {
    const int block_a = graph_.block_of[a], block_b = graph_.block_of[b];
    return block_a == block_b ? a < b : graph_.dominates(block_a, block_b);
  }
  bool reachable(std::size_t instruction) const {
    return graph_.blocks[at(graph_.block_of[instruction])].reachable;
  }

  // d = s may be replaced where s is defined once before d, and d before each of its uses: on every path from a new
  // value of s to a use of d there is then d's own definition.
  void find_copies() {
    source_of_.assign(kernel_.registers.size(), -1);
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      const KernelInstruction& instruction = kernel_.instructions[i];
      if (!reachable(i) || !defines_once(instruction) || !is_plain_move(instruction)) continue;
      const KernelOperand& source = instruction.operands[1];
      if (!source.is_register() || source.negated) continue;
      const int target = instruction.operands[0].reg;
      const Definition& definition = definitions_[at(source.reg)];
      const bool same_class = kernel_.registers[at(target)] == kernel_.registers[at(source.reg)];
      if (same_class && definition.count == 1 && reachable(definition.instruction) &&
          kernel_.instructions[definition.instruction].guard < 0 && before(definition.instruction, i)) {
        source_of_[at(target)] = source.reg;
      }
    }
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      if (reachable(i)) drop_early_uses(i);
    }
  }

  void drop_early_uses(std::size_t i) {
    const auto check = [&](int reg) {
      if (reg >= 0 && source_of_[at(reg)] >= 0 && !before(definitions_[at(reg)].instruction, i)) source_of_[at(reg)] = -1;
    };
    check(kernel_.instructions[i].guard);
    for_each_use(kernel_.instructions[i], [&](const KernelOperand& operand) { check(operand.reg); });
  }

  int root_of(int reg) const {
    while (source_of_[at(reg)] >= 0) reg = source_of_[at(reg)];
    return reg;
  }

  void replace_copies() {
    for (KernelInstruction& instruction : kernel_.instructions) {
      if (instruction.guard >= 0) instruction.guard = root_of(instruction.guard);
      for_each_use(instruction, [this](KernelOperand& operand) { operand.reg = root_of(operand.reg); });
    }
  }

  // Moves and address arithmetic whose result nothing reads any more, from the last to the first.
  void remove_unused() {
    std::vector<int> uses(kernel_.registers.size());
    const auto count = [&](KernelInstruction& instruction, int step) {
      if (instruction.guard >= 0) uses[at(instruction.guard)] += step;
      for_each_use(instruction, [&](const KernelOperand& operand) { uses[at(operand.reg)] += step; });
    };
    for (KernelInstruction& instruction : kernel_.instructions) count(instruction, 1);
    for (auto instruction = kernel_.instructions.rbegin(); instruction != kernel_.instructions.rend(); ++instruction) {
      if (!defines_once(*instruction) || uses[at(instruction->operands[0].reg)] > 0) continue;
      if (!is_plain_move(*instruction) && !constants_[at(instruction->operands[0].reg)]) continue;
      instruction->removed = true;
      count(*instruction, -1);
    }
  }

  Kernel& kernel_;
  const FlowGraph& graph_;
  std::vector<Definition> definitions_;
  std::vector<std::optional<std::uint64_t>> constants_;
  std::vector<int> source_of_;  // of copies; -1 none
};

}  // namespace

void propagate(Kernel& kernel, const FlowGraph& graph) { Propagation(kernel, graph).run(); }

}  // namespace onelaunch::emu
