#include "sandbox/emulator/program/liveness.h"

#include <bit>
#include <cstdint>

#include "sandbox/emulator/program/instruction_facts.h"

namespace onelaunch::emu {
namespace {

using Kind = KernelOperand::Kind;

class BitSet {
 public:
  explicit BitSet(std::size_t size) : words_((size + 63) / 64) {}
  void set(int bit) { word(bit) |= mask(bit); }
  void clear(int bit) { word(bit) &= ~mask(bit); }
  bool has(int bit) const { return (words_[static_cast<std::size_t>(bit) / 64] & mask(bit)) != 0; }
  void add(const BitSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  // this |= other & ~without; true when something was new.
  bool add(const BitSet& other, const BitSet& without) {
    std::uint64_t fresh = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t added = other.words_[i] & ~without.words_[i] & ~words_[i];
      words_[i] |= added;
      fresh |= added;
    }
    return fresh != 0;
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

 private:
  std::uint64_t& word(int bit) { return words_[static_cast<std::size_t>(bit) / 64]; }
  static std::uint64_t mask(int bit) { return std::uint64_t{1} << (static_cast<unsigned>(bit) % 64); }
  std::vector<std::uint64_t> words_;
};

template <class Visit>
void for_each_register(const KernelOperand& operand, const Visit& visit) {
  if (operand.kind == Kind::reg) visit(operand.reg);
  for (const KernelOperand& element : operand.elements) for_each_register(element, visit);
}

template <class Visit>
void for_each_definition(const KernelInstruction& instruction, const Visit& visit) {
  if (writes_first_operand(instruction)) for_each_register(instruction.operands[0], visit);
}

template <class Visit>
void for_each_use(const KernelInstruction& instruction, const Visit& visit) {
  if (instruction.guard >= 0) visit(instruction.guard);
  const bool skip_first = writes_first_operand(instruction) && !reads_first_operand(instruction);
  for (std::size_t i = skip_first ? 1 : 0; i < instruction.operands.size(); ++i) {
    for_each_register(instruction.operands[i], visit);
  }
}

struct BlockSets {
  BitSet live_in, live_out, defined;
  explicit BlockSets(std::size_t size) : live_in(size), live_out(size), defined(size) {}
};

class Liveness {
 public:
  Liveness(const Kernel& kernel, const FlowGraph& graph)
      : kernel_(kernel), graph_(graph), sets_(graph.blocks.size(), BlockSets(kernel.registers.size())) {}

  std::vector<Interval> run() {
    for (std::size_t b = 0; b < sets_.size(); ++b) gather(b);
    for (bool changed = true; changed;) changed = flow_backwards();
    for (std::size_t b = 0; b < sets_.size(); ++b) extend(b);
    return std::move(intervals_);
  }

 private:
  void gather(std::size_t b) {
    for (std::size_t i = graph_.blocks[b].first; i < graph_.blocks[b].end; ++i) {
      const KernelInstruction& instruction = kernel_.instructions[i];
      if (instruction.removed) continue;
      for_each_use(instruction, [&](int reg) {
        if (!sets_[b].defined.has(reg)) sets_[b].live_in.set(reg);
      });
      // A guarded write leaves the other lanes' old values alive: it ends nothing.
      for_each_definition(instruction, [&](int reg) {
        if (instruction.guard < 0) {
          sets_[b].defined.set(reg);
        } else if (!sets_[b].defined.has(reg)) {
          sets_[b].live_in.set(reg);
        }
      });
    }
  }

  bool flow_backwards() {
    bool changed = false;
    for (std::size_t b = sets_.size(); b-- > 0;) {
      if (!graph_.blocks[b].reachable) continue;
      for (const int next : graph_.blocks[b].successors) {
        sets_[b].live_out.add(sets_[static_cast<std::size_t>(next)].live_in);
      }
      changed |= sets_[b].live_in.add(sets_[b].live_out, sets_[b].defined);
    }
    return changed;
  }

  void touch(std::size_t reg, std::size_t instruction) {
    Interval& interval = intervals_[reg];
    if (interval.empty()) {
      interval = {instruction, instruction};
    } else {
      interval.first = std::min(interval.first, instruction);
      interval.last = std::max(interval.last, instruction);
    }
  }

  void extend(std::size_t b) {
    const FlowBlock& block = graph_.blocks[b];
    if (!block.reachable) return;
    sets_[b].live_in.for_each([&](std::size_t reg) { touch(reg, block.first); });
    sets_[b].live_out.for_each([&](std::size_t reg) { touch(reg, block.end - 1); });
    for (std::size_t i = block.first; i < block.end; ++i) {
      if (kernel_.instructions[i].removed) continue;
      const auto note = [&](int reg) { touch(static_cast<std::size_t>(reg), i); };
      for_each_use(kernel_.instructions[i], note);
      for_each_definition(kernel_.instructions[i], note);
    }
  }

  const Kernel& kernel_;
  const FlowGraph& graph_;
  std::vector<BlockSets> sets_;
  std::vector<Interval> intervals_ = std::vector<Interval>(kernel_.registers.size());
};

}  // namespace

std::vector<Interval> find_intervals(const Kernel& kernel, const FlowGraph& graph) {
  return Liveness(kernel, graph).run();
}

}  // namespace onelaunch::emu
