// cp.async from global to shared memory. The bytes land at once: a correct program cannot tell.
#include <algorithm>
#include <cstring>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

void do_nothing(Warp&, const DecodedOp&, std::uint32_t) {}

// a + imm: destination; b + (signed) extra's list word: source; c: bytes taken from the source, the rest becomes zero.
void copy(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  const std::uint64_t source_offset = warp.operands[op.list] | std::uint64_t{warp.operands[op.list + 1]} << 32;
  const bool wide_source = warp.operands[op.list + 2] != 0;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t to = lane_address(warp, op, form, lane);
    const std::uint64_t from = (wide_source ? warp.row<std::uint64_t>(op.b)[lane] : warp.row<std::uint32_t>(op.b)[lane]) + source_offset;
    const unsigned taken = op.c == kNoOperand ? op.bytes : std::min<unsigned>(op.bytes, warp.row<std::uint32_t>(op.c)[lane]);
    std::byte raw[16] = {};
    if (taken) {
      const Place source = place_of(warp, op, MemorySpace::global, from, op.bytes, lane, Access::read);
      if (source.data) std::memcpy(raw, source.data, taken);
      if (source.allocation) touch(warp, *source.allocation, from, op.bytes, Access::read);
    }
    const Place target = place_of(warp, op, MemorySpace::shared, to, op.bytes, lane, Access::write);
    if (!target.data) return;
    std::memcpy(target.data, raw, op.bytes);
    note_written(warp, reinterpret_cast<std::uint64_t>(target.data), op.bytes);
  });
  note_effect(warp);
  warp.work->shared_wavefronts += (op.bytes + 3) / 4;
}

// Waiting for copies costs their latency once.
void wait(Warp& warp, const DecodedOp&, std::uint32_t) { warp.chain_cycles += warp.grid->chain.dram_cycles; }

DecodedOp make(OpFn run) {
  DecodedOp op;
  op.full = op.masked = run;
  op.cost = CostClass::load_store;
  return op;
}

}  // namespace

Result<DecodedOp> decode_copy(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (!modifiers.take("async")) return invalid("only cp.async is implemented");
  if (modifiers.take("bulk")) return invalid("bulk copies are not implemented");
  if (modifiers.take("mbarrier")) return invalid("cp.async.mbarrier is not implemented");
  if (modifiers.take("commit_group")) return make(&do_nothing);
  if (modifiers.take("wait_group") || modifiers.take("wait_all")) return make(&wait);
  if (instruction.operands.size() < 3) return invalid("expects a destination, a source and a size");
  take_cache_hints(modifiers);
  modifiers.take_one_of({"shared", "shared::cta", "shared::cluster"});
  modifiers.take("global");
  const LoweredOperand &source = instruction.operands[1], &size = instruction.operands[2];
  if (!size.constant || (size.value != 4 && size.value != 8 && size.value != 16)) return invalid("copies 4, 8 or 16 bytes");
  DecodedOp op = make(&copy);
  AccessForm form;
  form.space = MemorySpace::shared;
  set_address(context, instruction.operands[0], form, op);
  op.extra = form.pack();
  op.bytes = static_cast<std::uint8_t>(size.value);
  const bool wide = source.kind == LoweredOperand::Kind::row64;
  op.b = value_row(context, source, wide);
  const auto offset = static_cast<std::uint64_t>(source.address_offset);
  const std::uint32_t words[] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32), wide ? 1u : 0u};
  op.list = context.add_list(words);
  const bool sized = instruction.operands.size() > 3 && instruction.operands[3].kind == LoweredOperand::Kind::row32;
  if (sized) op.c = value_row(context, instruction.operands[3], false);
  return op;
}

}  // namespace onelaunch::emu
