#include "sandbox/emulator/model/rounds.h"

#include <algorithm>
#include <string_view>

#include "sandbox/emulator/memory/form.h"

namespace onelaunch::emu {
namespace {

bool is_global_load(std::string_view opcode) {
  if (!opcode.starts_with("ld.") && !opcode.starts_with("ldu.") && !opcode.starts_with("atom.")) return false;
  for (const std::string_view other : {".shared", ".local", ".param"})
    if (opcode.find(other) != std::string_view::npos) return false;
  return true;
}

class Round {
 public:
  explicit Round(const Program& program) : program_(program) {}
  void end() { pending_.clear(); }
  bool open() const { return !pending_.empty(); }

  void add(const DecodedOp& load) {
    const AccessForm form = AccessForm::unpack(load.extra);
    if (form.count == 1) return void(pending_.push_back(load.dst));
    for (std::uint32_t j = 0; j < form.count; ++j) pending_.push_back(program_.operands[load.list + j]);
  }

  bool uses(const DecodedOp& op, std::string_view opcode) const {
    if (op.cost == CostClass::tensor) return true;  // its operands are many
    if (has(op.a) || has(op.b) || has(op.c) || has(op.guard)) return true;
    if (!opcode.starts_with("st.")) return false;
    const AccessForm form = AccessForm::unpack(op.extra);
    for (std::uint32_t j = 0; form.count > 1 && j < form.count; ++j)
      if (has(program_.operands[op.list + j])) return true;
    return false;
  }

 private:
  bool has(std::uint32_t reg) const {
    return reg != kNoOperand && std::find(pending_.begin(), pending_.end(), reg) != pending_.end();
  }
  const Program& program_;
  std::vector<std::uint32_t> pending_;
};

}  // namespace

std::vector<bool> first_of_rounds(const Program& program) {
  std::vector<bool> first(program.ops.size(), false);
  Round round(program);
  for (std::size_t pc = 0; pc < program.ops.size(); ++pc) {
    const DecodedOp& op = program.ops[pc];
    if (op.control == Control::block || op.control == Control::block_barrier) {
      round.end();
      continue;
    }
    const std::string_view opcode = program.sites[op.site].opcode;
    if (round.open() && round.uses(op, opcode)) round.end();
    if (!is_global_load(opcode)) continue;
    first[pc] = !round.open();
    round.add(op);
  }
  return first;
}

}  // namespace onelaunch::emu
