// cp.async: 4, 8 or 16 bytes a lane from global to shared memory, in groups of its thread or followed by an arrival.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sandbox/emulator/async/flights.h"
#include "sandbox/emulator/async/mbarrier_access.h"
#include "sandbox/emulator/async/rows.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/address_list.h"
#include "sandbox/emulator/memory/modifiers.h"

namespace onelaunch::emu {
namespace {

enum Listed : std::uint32_t { kDestination, kSource };

void send(Warp& warp, const DecodedOp& op, unsigned lane, const Place& target, const std::byte* raw) {
  Flights& flights = warp.grid->flights;
  if (!flights.later) {
    std::memcpy(target.data, raw, op.bytes);
    return note_written(warp, reinterpret_cast<std::uint64_t>(target.data), op.bytes);
  }
  Flight flight{.grouped = true, .lane = static_cast<std::uint8_t>(lane), .issuer = &warp, .site = op.site, .to = target.data,
                .bytes = op.bytes, .to_home = target.home};
  flight.held.assign(raw, raw + op.bytes);
  flights.launch(*warp.grid, std::move(flight));
}

// b: bytes taken from the source, the rest becomes zero.
void copy(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t from = listed_address(warp, op, kSource, lane);
    const unsigned taken = op.b == kNoOperand ? op.bytes : std::min<unsigned>(op.bytes, warp.row<std::uint32_t>(op.b)[lane]);
    std::byte raw[16] = {};
    if (taken) {
      const Place source = place_of(warp, op, MemorySpace::global, from, op.bytes, lane, Access::read);
      if (source.data) std::memcpy(raw, source.data, taken);
      if (source.allocation) touch(warp, *source.allocation, from, op.bytes, Access::read);
    }
    const Place target = place_of(warp, op, MemorySpace::shared, listed_address(warp, op, kDestination, lane), op.bytes, lane, Access::write);
    if (target.data) send(warp, op, lane, target, raw);
  });
  note_effect(warp);
  warp.work->shared_wavefronts += (op.bytes + 3) / 4;
}

void commit(Warp& warp, const DecodedOp&, std::uint32_t mask) {
  if (!warp.grid->flights.later) return;
  each_lane(mask, [&](unsigned lane) { warp.grid->flights.commit(warp, lane, false); });
}

// Waiting for copies costs their latency once. extra: 1 for wait_all; b: groups kept.
void wait(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  warp.chain_cycles += warp.grid->chain.dram_cycles;
  if (!warp.grid->flights.later) return;
  each_lane(mask, [&](unsigned lane) {
    if (op.extra) warp.grid->flights.commit(warp, lane, false);
    warp.grid->flights.wait(*warp.grid, warp, lane, false, op.extra ? 0 : warp.row<std::uint32_t>(op.b)[lane], false);
  });
}

// extra above the form: 1 for .noinc, whose arrival the barrier's count holds already.
void arrive_later(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  each_lane(mask, [&](unsigned lane) {
    const MbarrierPlace at = find_mbarrier(warp, op, form.space == MemorySpace::shared, lane_address(warp, op, form, lane), lane);
    if (!at.barrier) return;
    if (!(op.extra >> kFormBits)) ++at.barrier->pending;
    warp.grid->flights.launch(*warp.grid, {.kind = Flight::Kind::arrive, .lane = static_cast<std::uint8_t>(lane), .issuer = &warp, .site = op.site,
                                           .barrier_home = at.home, .barrier_offset = at.offset,
                                           .ready_cycles = cycles_of(warp) + warp.grid->chain.dram_cycles});
  });
  note_effect(warp);
}

DecodedOp make(OpFn run) {
  DecodedOp op;
  op.full = op.masked = run;
  op.cost = CostClass::load_store;
  return op;
}

Result<DecodedOp> decode_arrive(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  modifiers.take("arrive");
  const bool counted = modifiers.take("noinc");
  if (instruction.operands.size() != 1) return invalid("expects a barrier");
  AccessForm form;
  form.space = take_space(modifiers);
  modifiers.take("b64");
  DecodedOp op = make(&arrive_later);
  set_address(context, instruction.operands[0], form, op);
  op.extra = form.pack() | std::uint32_t{counted} << kFormBits;
  return op;
}

Result<DecodedOp> decode_wait(DecodeContext& context, const LoweredInstruction& instruction, bool all) {
  DecodedOp op = make(&wait);
  op.extra = all ? 1 : 0;
  if (all) return op;
  if (instruction.operands.size() != 1) return invalid("expects a number of groups");
  op.b = value_row(context, instruction.operands[0], false);
  return op;
}

Result<DecodedOp> decode_small(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() < 3) return invalid("expects a destination, a source and a size");
  take_cache_hints(modifiers);
  modifiers.take_one_of({"shared", "shared::cta", "shared::cluster"});
  modifiers.take("global");
  const LoweredOperand& size = instruction.operands[2];
  if (!size.constant || (size.value != 4 && size.value != 8 && size.value != 16)) return invalid("copies 4, 8 or 16 bytes");
  DecodedOp op = make(&copy);
  std::vector<std::uint32_t> list;
  for (const std::size_t index : {0, 1}) add_address(context, instruction.operands[index], list);
  op.list = context.add_list(list);
  op.bytes = static_cast<std::uint8_t>(size.value);
  const bool sized = instruction.operands.size() > 3 && instruction.operands[3].kind == LoweredOperand::Kind::row32;
  if (sized) op.b = value_row(context, instruction.operands[3], false);
  return op;
}

}  // namespace

Result<DecodedOp> decode_copy(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const bool reduces = modifiers.take("reduce");
  if (!modifiers.take("async")) return invalid("only cp.async and cp.reduce.async are implemented");
  const bool bulk = modifiers.take("bulk");
  if (reduces) return bulk ? decode_bulk_reduce(context, instruction, modifiers) : invalid("only bulk copies can reduce");
  if (bulk) return decode_bulk(context, instruction, modifiers);
  if (modifiers.take("mbarrier")) return decode_arrive(context, instruction, modifiers);
  if (modifiers.take("commit_group")) return make(&commit);
  const bool all = modifiers.take("wait_all");
  if (all || modifiers.take("wait_group")) return decode_wait(context, instruction, all);
  return decode_small(context, instruction, modifiers);
}

}  // namespace onelaunch::emu
