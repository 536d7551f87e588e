// From Kernel to Program: operands become byte offsets, opcodes become function pointers, labels become pcs.

#include <utility>

#include "sandbox/emulator/program/constants.h"
#include "sandbox/emulator/program/control_flow.h"
#include "sandbox/emulator/program/flow_graph.h"
#include "sandbox/emulator/program/instruction_facts.h"
#include "sandbox/emulator/program/liveness.h"
#include "sandbox/emulator/program/lower.h"
#include "sandbox/emulator/program/opcode_table.h"
#include "sandbox/emulator/program/program.h"
#include "sandbox/emulator/program/propagate.h"
#include "sandbox/emulator/program/slots.h"

namespace onelaunch::emu {
namespace {

class Decoder {
 public:
  Decoder(const Kernel& kernel, const FlowGraph& graph, const Slots& slots, Program& program)
      : kernel_(kernel), graph_(graph), slots_(slots), program_(program), building_(program) {}

  Result<void> run() {
    find_meeting_blocks();
    head_of_.assign(graph_.blocks.size(), kNoPc);
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      if (!graph_.blocks[b].reachable) continue;
      if (const auto emitted = emit_block(b); !emitted) return emitted;
    }
    for (const auto& [pc, instruction] : branches_) patch(program_.ops[pc], kernel_.instructions[instruction]);
    return {};
  }

 private:
  std::uint32_t next_pc() const { return static_cast<std::uint32_t>(program_.ops.size()); }

  void find_meeting_blocks() {
    meets_.assign(graph_.blocks.size(), false);
    for (const FlowBlock& block : graph_.blocks) {
      const KernelInstruction& last = kernel_.instructions[block.end - 1];
      const bool diverges = is_branch(last) && block.successors.size() > 1;
      if (block.reachable && diverges && block.reconvergence >= 0) {
        meets_[static_cast<std::size_t>(block.reconvergence)] = true;
      }
    }
  }

  Result<void> emit_block(std::size_t b) {
    head_of_[b] = next_pc();
    if (meets_[b]) add_pseudo(Control::reconverge, b);
    add_pseudo(Control::block, b);
    program_.ops.back().extra = static_cast<std::uint32_t>(program_.blocks.size());
    BasicBlock block;
    block.first = next_pc();
    for (std::size_t i = graph_.blocks[b].first; i < graph_.blocks[b].end; ++i) {
      if (kernel_.instructions[i].removed) continue;
      if (const auto emitted = emit(i); !emitted) return emitted;
      ++block.classes[static_cast<std::size_t>(program_.ops.back().cost)];
    }
    block.count = next_pc() - block.first;
    program_.blocks.push_back(block);
    return {};
  }

  void add_pseudo(Control control, std::size_t b) {
    DecodedOp op = pseudo_op(control);
    op.site = add_site(kernel_.instructions[graph_.blocks[b].first]);
    program_.ops.push_back(op);
  }

  std::uint32_t add_site(const KernelInstruction& instruction) {
    Site site;
    site.opcode = full_opcode(instruction);
    if (instruction.source != nullptr) {
      site.ptx_line = instruction.source->line;
      site.location = instruction.source->location;
    }
    program_.sites.push_back(std::move(site));
    return static_cast<std::uint32_t>(program_.sites.size() - 1);
  }

  Result<void> emit(std::size_t index) {
    const KernelInstruction& instruction = kernel_.instructions[index];
    const LoweredInstruction lowered = lower(instruction);
    auto op = is_control(instruction.opcode) ? decode_control(instruction, lowered) : from_table(lowered);
    if (!op) return tl::unexpected<Error>(refusal(instruction, full_opcode(instruction) + ": " + op.error().message));
    if (instruction.guard >= 0) op->guard = slot(instruction.guard);
    op->guard_negated = instruction.guard_negated;
    op->site = add_site(instruction);
    if (is_branch(instruction)) branches_.emplace_back(next_pc(), index);
    program_.ops.push_back(*op);
    return {};
  }

  Result<DecodedOp> from_table(const LoweredInstruction& lowered) {
    const std::string opcode(lowered.opcode);
    const OpcodeRow* const row = find_opcode(lowered.opcode);
    if (row == nullptr) return invalid(opcode + " is not implemented");
    Modifiers modifiers(lowered.modifiers);
    auto op = row->factory(building_, lowered, modifiers);
    if (op && !modifiers.left().empty()) {
      return invalid("modifier ." + std::string(modifiers.left().front()) + " of " + opcode + " is not implemented");
    }
    return op;
  }

  std::uint32_t slot(int reg) const { return slots_.offset_of[static_cast<std::size_t>(reg)]; }

  LoweredInstruction lower(const KernelInstruction& instruction) {
    LoweredInstruction lowered;
    lowered.opcode = instruction.opcode;
    lowered.modifiers = instruction.modifiers;
    lowered.line = instruction.source == nullptr ? 0 : instruction.source->line;
    for (const KernelOperand& operand : instruction.operands) lowered.operands.push_back(lower(operand));
    return lowered;
  }

  LoweredOperand lower(const KernelOperand& operand) {
    LoweredOperand result;
    result.negated = operand.negated;
    result.address_offset = operand.address ? operand.offset : 0;
    switch (operand.kind) {
      case KernelOperand::Kind::reg:
        result.kind = kind_of(kernel_.registers[static_cast<std::size_t>(operand.reg)]);
        result.offset = slot(operand.reg);
        break;
      case KernelOperand::Kind::constant:
        result.kind = kind_of(operand.shape);
        result.constant = true;
        result.value = operand.value;
        result.offset = constant(operand);
        break;
      case KernelOperand::Kind::special:
        result.kind = LoweredOperand::Kind::special;
        result.special = operand.special;
        break;
      case KernelOperand::Kind::vector:
        result.kind = LoweredOperand::Kind::vector;
        for (const KernelOperand& element : operand.elements) result.elements.push_back(lower(element));
        break;
      default: break;
    }
    return result;
  }

  static LoweredOperand::Kind kind_of(RegisterClass shape) {
    if (shape == RegisterClass::predicate) return LoweredOperand::Kind::predicate;
    return shape == RegisterClass::row32 ? LoweredOperand::Kind::row32 : LoweredOperand::Kind::row64;
  }

  std::uint32_t constant(const KernelOperand& operand) {
    if (operand.shape == RegisterClass::predicate) return building_.constant_predicate(operand.value != 0);
    if (operand.shape == RegisterClass::row64) return building_.constant64(operand.value);
    return building_.constant32(static_cast<std::uint32_t>(operand.value));
  }

  std::uint32_t pc_of(const KernelOperand& label) const {
    const std::size_t instruction = kernel_.labels[static_cast<std::size_t>(label.reg)];
    return head_of_[static_cast<std::size_t>(graph_.block_of[instruction])];
  }

  void patch(DecodedOp& op, const KernelInstruction& branch) {
    const auto index = static_cast<std::size_t>(&branch - kernel_.instructions.data());
    const int meeting = graph_.blocks[static_cast<std::size_t>(graph_.block_of[index])].reconvergence;
    const std::uint32_t meeting_pc = meeting < 0 ? kNoPc : head_of_[static_cast<std::size_t>(meeting)];
    if (op.control == Control::branch) {
      op.target = pc_of(branch.operands[0]);
      op.imm = meeting_pc;
      return;
    }
    std::vector<std::uint32_t> targets;
    for (const KernelOperand& label : branch.operands[1].elements) targets.push_back(pc_of(label));
    op.list = building_.add_list(targets);
    op.imm = targets.size();
    op.target = meeting_pc;
  }

  const Kernel& kernel_;
  const FlowGraph& graph_;
  const Slots& slots_;
  Program& program_;
  ProgramBuilding building_;
  std::vector<bool> meets_;              // blocks where divergent lanes meet
  std::vector<std::uint32_t> head_of_;   // pc of each block's first pseudo-operation
  std::vector<std::pair<std::uint32_t, std::size_t>> branches_;  // pc, instruction
};

Result<void> fill(Program& program, const ptx::Function& entry, const SymbolAddresses& symbols) {
  auto kernel = lower(*program.module, entry, symbols);
  if (!kernel) return because(kernel.error());
  const FlowGraph graph = build_flow_graph(*kernel);
  propagate(*kernel, graph);
  const Slots slots = assign_slots(kernel->registers, find_intervals(*kernel, graph));
  program.layout = slots.layout;
  program.param_bytes = kernel->param_bytes;
  program.shared_static_bytes = kernel->shared_static_bytes;
  program.local_bytes = kernel->local_bytes;
  return Decoder(*kernel, graph, slots, program).run();
}

}  // namespace

Result<std::shared_ptr<const Program>> decode(std::shared_ptr<const ptx::Module> module, const std::string& name,
                                              const SymbolAddresses& symbols) {
  const ptx::Function* const entry = module->find(name);
  if (entry == nullptr || !entry->entry) return invalid("the module has no entry " + name);
  auto program = std::make_shared<Program>();
  program->module = std::move(module);
  program->name = name;
  program->threads_max = entry->threads_max;
  program->blocks_per_sm_min = entry->blocks_per_sm_min;
  program->cluster_blocks = entry->cluster_blocks;
  if (const auto filled = fill(*program, *entry, symbols); !filled) return because(filled.error(), "entry " + name);
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace onelaunch::emu
