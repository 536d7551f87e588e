// st.async and red.async: one element or vector per lane into the cluster's shared memory, with bytes on a barrier.
#include <bit>
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

enum Listed : std::uint32_t { kDestination, kBarrier, kEnd };

bool reduces(const DecodedOp& op) { return op.imm != 0; }

// extra: form of the elements, and above it the change of red; imm: 1 for red. Values follow the addresses in the list.
void send(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  each_lane(mask, [&](unsigned lane) {
    const Place to = place_of(warp, op, MemorySpace::shared, listed_address(warp, op, kDestination, lane), op.bytes, lane, Access::write);
    if (!to.data) return warp.grid->faults.stop();
    const MbarrierPlace at = find_mbarrier(warp, op, true, listed_address(warp, op, kBarrier, lane), lane);
    if (!at.barrier) return;
    if (at.home != to.home) return report_fault(warp, op, 1u << lane, "the mbarrier lies in another block than the destination");
    Flight flight{.kind = reduces(op) ? Flight::Kind::reduce : Flight::Kind::copy, .bulk = true, .lane = static_cast<std::uint8_t>(lane),
                  .issuer = &warp, .site = op.site, .to = to.data, .bytes = op.bytes, .change = AtomicForm::unpack(op.extra),
                  .element_bytes = static_cast<std::uint8_t>(form.element_bytes()), .barrier_home = at.home, .barrier_offset = at.offset,
                  .to_home = to.home, .ready_cycles = cycles_of(warp) + warp.grid->chain.l2_cycles};
    flight.held.resize(op.bytes);
    for (unsigned j = 0; j < form.count; ++j) {
      const std::uint32_t reg = warp.operands[op.list + kEnd * kAddressWords + j];
      const std::uint64_t bits = form.wide_register ? warp.row<std::uint64_t>(reg)[lane] : warp.row<std::uint32_t>(reg)[lane];
      std::memcpy(flight.held.data() + j * form.element_bytes(), &bits, form.element_bytes());
    }
    warp.grid->flights.launch(*warp.grid, std::move(flight));
  });
  note_effect(warp);
}

Result<DecodedOp> decode(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers, const ElementType& type) {
  if (instruction.operands.size() != 3) return invalid("expects an address, a value and a barrier");
  if (!modifiers.take("mbarrier::complete_tx::bytes")) return invalid("only the form that completes on an mbarrier is implemented");
  modifiers.take_one_of({"weak", "relaxed"});
  modifiers.take("cluster");
  modifiers.take("shared::cluster");
  AccessForm form;
  form.space = MemorySpace::shared;
  form.count = static_cast<std::uint8_t>(take_vector(modifiers));
  form.element_log2 = static_cast<std::uint8_t>(std::countr_zero(type.bytes));
  form.wide_register = type.bytes == 8;
  if (type.bytes != 4 && type.bytes != 8) return invalid("type ." + type.name + " is not understood here");
  std::vector<std::uint32_t> list;
  add_address(context, instruction.operands[0], list);
  add_address(context, instruction.operands[2], list);
  const LoweredOperand& value = instruction.operands[1];
  if (value.kind == LoweredOperand::Kind::vector) for (const LoweredOperand& element : value.elements) list.push_back(value_row(context, element, form.wide_register));
  else list.push_back(value_row(context, value, form.wide_register));
  if (list.size() != kEnd * kAddressWords + form.count) return invalid("has a vector of the wrong size");
  DecodedOp op;
  op.list = context.add_list(list);
  op.bytes = static_cast<std::uint8_t>(form.count << form.element_log2);
  op.extra = form.pack();
  op.cost = CostClass::load_store;
  op.full = op.masked = &send;
  return op;
}

}  // namespace

Result<DecodedOp> decode_async_store(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const Result<ElementType> type = take_type(modifiers);
  if (!type) return because(type.error());
  return decode(context, instruction, modifiers, *type);
}

Result<DecodedOp> decode_async_red(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const Result<ElementType> type = take_type(modifiers);
  if (!type) return because(type.error());
  const Result<Change> change = take_change(modifiers);
  if (!change) return because(change.error());
  const Result<AtomicForm> atomic = form_of(*change, *type);
  if (!atomic) return because(atomic.error());
  Result<DecodedOp> op = decode(context, instruction, modifiers, *type);
  if (!op) return op;
  op->extra |= atomic->pack();
  op->imm = 1;
  return op;
}

}  // namespace onelaunch::emu
