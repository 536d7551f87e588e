// Instructions that only advise the caches. discard may destroy data, so its bytes become a NaN pattern.
#include <cstring>

#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

constexpr unsigned kDiscardBytes = 128;

void do_nothing(Warp&, const DecodedOp&, std::uint32_t) {}

void discard(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = lane_address(warp, op, form, lane);
    const Place place = place_of(warp, op, form.space, address, kDiscardBytes, lane, Access::write);
    if (place.data) std::memset(place.data, 0xff, kDiscardBytes);
  });
}

void give_policy(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) { warp.row_to_write<std::uint64_t>(op.dst)[lane] = 0; });
}

}  // namespace

Result<DecodedOp> decode_hint(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.empty()) return invalid("expects an address");
  AccessForm form;
  form.space = take_space(modifiers);
  modifiers.take_one_of({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  modifiers.take("tensormap");
  DecodedOp op;
  set_address(context, instruction.operands[0], form, op);
  op.extra = form.pack();
  op.cost = CostClass::load_store;
  op.full = op.masked = instruction.opcode == "discard" ? &discard : &do_nothing;
  return op;
}

Result<DecodedOp> decode_createpolicy(DecodeContext&, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.empty()) return invalid("expects a destination");
  modifiers.take_one_of({"fractional", "range", "cvt"});
  modifiers.take("global");
  modifiers.take_one_of({"L2::evict_first", "L2::evict_last", "L2::evict_normal", "L2::evict_unchanged"});
  modifiers.take_one_of({"L2::evict_first", "L2::evict_unchanged"});
  modifiers.take("L2");
  modifiers.take("b64");
  DecodedOp op;
  op.dst = instruction.operands[0].offset;
  op.cost = CostClass::alu;
  op.full = op.masked = &give_policy;
  return op;
}

}  // namespace onelaunch::emu
