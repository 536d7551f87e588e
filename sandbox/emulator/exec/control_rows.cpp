// Barriers, fences and sleeps: decoded here, carried out by the run loop.
#include "sandbox/emulator/exec/barriers.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu {
namespace {

void do_nothing(Warp&, const DecodedOp&, std::uint32_t) {}

DecodedOp make(Control control, CostClass cost) {
  DecodedOp op;
  op.full = op.masked = do_nothing;
  op.control = control;
  op.cost = cost;
  return op;
}

std::uint32_t row(DecodeContext& context, const LoweredOperand& operand) {
  return operand.constant ? context.constant32(static_cast<std::uint32_t>(operand.value)) : operand.offset;
}

Result<DecodedOp> decode_warp_barrier(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  modifiers.take("warp");
  modifiers.take("sync");
  DecodedOp op = make(Control::warp_sync, CostClass::alu);
  op.a = row(context, instruction.operands.at(0));
  return op;
}

Result<DecodedOp> decode_cluster_barrier(Modifiers& modifiers) {
  modifiers.take("cluster");
  ClusterBarrierForm form;
  form.waits = modifiers.take("wait");
  if (!form.waits && !modifiers.take("arrive")) return invalid("expects .arrive or .wait");
  form.relaxed = modifiers.take("relaxed");
  modifiers.take_one_of({"release", "acquire"});
  form.aligned = modifiers.take("aligned");
  DecodedOp op = make(Control::cluster_barrier, CostClass::barrier);
  op.extra = form.pack();
  return op;
}

BarrierForm::Kind take_kind(Modifiers& modifiers) {
  if (modifiers.take("arrive")) return BarrierForm::Kind::arrive;
  if (modifiers.take("red")) {
    if (modifiers.take("and")) return BarrierForm::Kind::red_and;
    if (modifiers.take("or")) return BarrierForm::Kind::red_or;
    modifiers.take("popc");
    return BarrierForm::Kind::red_popc;
  }
  modifiers.take("sync");
  return BarrierForm::Kind::sync;
}

// bar is barrier with .aligned. Operands: [result,] id [, threads] [, predicate].
Result<DecodedOp> decode_barrier(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  modifiers.take("cta");
  BarrierForm form;
  form.kind = take_kind(modifiers);
  form.aligned = modifiers.take("aligned") || instruction.opcode == "bar";
  modifiers.take_one_of({"u32", "pred"});
  DecodedOp op = make(Control::block_barrier, CostClass::barrier);
  std::size_t next = 0, left = instruction.operands.size();
  const bool reduces = form.kind >= BarrierForm::Kind::red_and;
  if (reduces) op.dst = instruction.operands.at(next++).offset, --left;
  if (left == 0) return invalid("expects a barrier number");
  op.a = row(context, instruction.operands[next++]);
  if (left - 1 > (reduces ? 1u : 0u)) op.b = row(context, instruction.operands[next++]);
  if (reduces) {
    const LoweredOperand& predicate = instruction.operands.at(next);
    op.c = predicate.constant ? context.constant_predicate(predicate.value != 0) : predicate.offset;
    form.negated = predicate.negated;
  }
  op.extra = form.pack();
  return op;
}

Result<DecodedOp> decode_any_barrier(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  for (const std::string_view modifier : modifiers.left()) {
    if (modifier == "warp") return decode_warp_barrier(context, instruction, modifiers);
    if (modifier == "cluster") return decode_cluster_barrier(modifiers);
  }
  return decode_barrier(context, instruction, modifiers);
}

// One thread runs everything in program order: fences order nothing here (but see check/).
Result<DecodedOp> decode_fence(DecodeContext&, const LoweredInstruction&, Modifiers& modifiers) {
  if (modifiers.take("proxy")) {
    if (modifiers.take_one_of({"async", "async::generic", "alias"}).empty()) return invalid("only the proxies .async and .alias are implemented");
    modifiers.take_one_of({"global", "shared::cta", "shared::cluster"});
    modifiers.take_one_of({"acquire", "release"});
    modifiers.take_one_of({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    modifiers.take("cluster");
    return make(Control::none, CostClass::load_store);
  }
  for (const char* const known : {"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "gl", "mbarrier_init", "sync_restrict::shared::cta", "sync_restrict::shared::cluster"}) modifiers.take(known);
  return make(Control::none, CostClass::load_store);
}

Result<DecodedOp> decode_sleep(DecodeContext&, const LoweredInstruction&, Modifiers& modifiers) {
  modifiers.take("u32");
  return make(Control::nanosleep, CostClass::alu);
}

// A launch here never overlaps another one, so that a kernel which waits for its predecessor was not meant for us.
Result<DecodedOp> decode_launch_dependency(DecodeContext&, const LoweredInstruction&, Modifiers&) {
  return invalid("programmatic dependent launches are not implemented");
}

// Registers are not counted here: only what ptxas would refuse is.
Result<DecodedOp> decode_register_count(DecodeContext&, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (!modifiers.take("inc") && !modifiers.take("dec")) return invalid("expects .inc or .dec");
  modifiers.take("sync");
  modifiers.take("aligned");
  modifiers.take("u32");
  if (instruction.operands.size() != 1 || !instruction.operands[0].constant) return invalid("expects a constant number of registers");
  const std::uint64_t registers = instruction.operands[0].value;
  if (registers < 24 || registers > 256 || registers % 8 != 0) return invalid("the number of registers must be a multiple of 8 from 24 to 256");
  return make(Control::none, CostClass::alu);
}

}  // namespace

std::span<const OpcodeRow> control_rows() {
  static constexpr OpcodeRow kRows[] = {
      {"bar", decode_any_barrier, "Barriers"},
      {"barrier", decode_any_barrier, "Barriers"},
      {"fence", decode_fence, "Barriers"},
      {"membar", decode_fence, "Barriers"},
      {"nanosleep", decode_sleep, "Barriers"},
      {"griddepcontrol", decode_launch_dependency, "Barriers"},
      {"setmaxnreg", decode_register_count, "Barriers"},
  };
  return kRows;
}

}  // namespace onelaunch::emu
