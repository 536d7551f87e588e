// cvta, isspacep, mapa: between addresses of one space and generic ones.
#include <string>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

constexpr std::uint64_t kWindowMask = 0xffffull << 48;

std::uint64_t window_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::shared: return kSharedWindow;
    case MemorySpace::local: return kLocalWindow;
    case MemorySpace::param: return kParamWindow;
    default: return 0;
  }
}

std::uint64_t read(const Warp& warp, const DecodedOp& op, unsigned lane) {
  return op.extra & 1 ? warp.row<std::uint64_t>(op.a)[lane] : warp.row<std::uint32_t>(op.a)[lane];
}

void write(Warp& warp, const DecodedOp& op, unsigned lane, std::uint64_t value) {
  if (op.extra & 2) warp.row_to_write<std::uint64_t>(op.dst)[lane] = value;
  else warp.row_to_write<std::uint32_t>(op.dst)[lane] = static_cast<std::uint32_t>(value);
}

void add_window(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) { write(warp, op, lane, read(warp, op, lane) + op.imm); });
}

void remove_window(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = read(warp, op, lane);
    if ((address & kWindowMask) != op.imm && address != 0)
      return report_fault(warp, op, 1u << lane, "a generic address is turned into one of a space that it is not in");
    write(warp, op, lane, address - op.imm);
  });
}

void test_window(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  std::uint32_t inside = 0;
  each_lane(mask, [&](unsigned lane) { inside |= std::uint32_t((read(warp, op, lane) & kWindowMask) == op.imm) << lane; });
  warp.set_predicate(op.dst, inside, mask);
}

constexpr std::uint64_t kRankMask = 0xffull << 24;

// extra bit 2: mapa takes shared addresses; without it generic ones.
bool in_shared(Warp& warp, const DecodedOp& op, unsigned lane, std::uint64_t address) {
  const std::uint64_t window = op.extra & 4 ? 0 : kSharedWindow;
  if ((address & kWindowMask) == window && shared_home(*warp.block, static_cast<std::uint32_t>(address))) return true;
  report_fault(warp, op, 1u << lane, "the address is not in the shared memory of the cluster");
  return false;
}

void map_to_rank(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = read(warp, op, lane), rank = warp.row<std::uint32_t>(op.b)[lane];
    if (!in_shared(warp, op, lane, address)) return;
    if (rank >= warp.block->cluster->blocks.size())
      return report_fault(warp, op, 1u << lane, "mapa names rank " + std::to_string(rank) + " of a cluster of " + std::to_string(warp.block->cluster->blocks.size()));
    write(warp, op, lane, (address & ~kRankMask) | (rank + 1) << 24);
  });
}

void rank_of(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = read(warp, op, lane);
    if (in_shared(warp, op, lane, address))
      warp.row_to_write<std::uint32_t>(op.dst)[lane] = rank_in_cluster(*shared_home(*warp.block, static_cast<std::uint32_t>(address)));
  });
}

// extra bit 3: shared memory of the own block only.
void test_shared(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  std::uint32_t inside = 0;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = read(warp, op, lane);
    const Block* const home = (address & kWindowMask) == kSharedWindow ? shared_home(*warp.block, static_cast<std::uint32_t>(address)) : nullptr;
    inside |= std::uint32_t{home != nullptr && (!(op.extra & 8) || home == warp.block)} << lane;
  });
  warp.set_predicate(op.dst, inside, mask);
}

DecodedOp make(DecodeContext& context, const LoweredInstruction& instruction, OpFn run) {
  const LoweredOperand &to = instruction.operands[0], &from = instruction.operands[1];
  DecodedOp op;
  const bool wide_from = from.kind == LoweredOperand::Kind::row64, wide_to = to.kind == LoweredOperand::Kind::row64;
  op.dst = to.offset;
  op.a = value_row(context, from, wide_from);
  op.extra = std::uint32_t{wide_from} | std::uint32_t{wide_to} << 1;
  op.cost = CostClass::free_op;
  op.full = op.masked = run;
  return op;
}

}  // namespace

Result<DecodedOp> decode_cvta(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 2) return invalid("expects two operands");
  const bool to = modifiers.take("to");
  const MemorySpace space = take_space(modifiers);
  modifiers.take_one_of({"u32", "u64"});
  DecodedOp op = make(context, instruction, to ? &remove_window : &add_window);
  op.imm = window_of(space);
  return op;
}

Result<DecodedOp> decode_isspacep(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 2) return invalid("expects two operands");
  const bool cluster = modifiers.take("shared::cluster");
  const MemorySpace space = cluster ? MemorySpace::shared : take_space(modifiers);
  DecodedOp op = make(context, instruction, space == MemorySpace::shared ? &test_shared : &test_window);
  op.imm = window_of(space);
  if (!cluster) op.extra |= 8;
  return op;
}

Result<DecodedOp> decode_mapa(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 3) return invalid("expects three operands");
  const bool shared = take_space(modifiers) == MemorySpace::shared;
  modifiers.take_one_of({"u32", "u64"});
  DecodedOp op = make(context, instruction, &map_to_rank);
  if (shared) op.extra |= 4;
  op.b = value_row(context, instruction.operands[2], false);
  return op;
}

Result<DecodedOp> decode_getctarank(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 2) return invalid("expects two operands");
  const bool shared = take_space(modifiers) == MemorySpace::shared;
  modifiers.take_one_of({"u32", "u64"});
  DecodedOp op = make(context, instruction, &rank_of);
  if (shared) op.extra |= 4;
  return op;
}

}  // namespace onelaunch::emu
