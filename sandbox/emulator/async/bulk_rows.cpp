// cp.async.bulk and cp.reduce.async.bulk: from modifiers to the operation that runs.
#include <optional>
#include <vector>

#include "sandbox/emulator/async/bulk.h"
#include "sandbox/emulator/async/rows.h"
#include "sandbox/emulator/memory/address_list.h"
#include "sandbox/emulator/memory/modifiers.h"

namespace onelaunch::emu {
namespace {

DecodedOp make(OpFn run) {
  DecodedOp op;
  op.cost = CostClass::load_store;
  op.full = op.masked = run;
  return op;
}

// The two spaces in the order of the text: destination, source. True for shared memory.
std::optional<bool> take_side(Modifiers& modifiers) {
  for (const std::string_view modifier : modifiers.left()) {
    if (modifier != "global" && !modifier.starts_with("shared")) continue;
    const bool shared = modifier != "global";
    modifiers.take(modifier);
    return shared;
  }
  return std::nullopt;
}

Result<DecodedOp> decode_prefetch(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  modifiers.take("L2");
  modifiers.take("global");
  modifiers.take("L2::cache_hint");
  if (instruction.operands.size() < 2) return invalid("expects an address and a size");
  DecodedOp op = make(&prefetch_bulk);
  std::vector<std::uint32_t> list;
  add_address(context, instruction.operands[0], list);
  op.list = context.add_list(list);
  op.b = value_row(context, instruction.operands[1], false);
  return op;
}

Result<DecodedOp> decode_wait(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 1) return invalid("expects a number of groups");
  DecodedOp op = make(&wait_bulk);
  op.extra = modifiers.take("read") ? 1 : 0;
  op.b = value_row(context, instruction.operands[0], false);
  return op;
}

// Operands: destination, source, bytes [, barrier] [, ranks] [, cache policy].
Result<DecodedOp> decode_transfer(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers, BulkForm form) {
  const std::optional<bool> to_shared = take_side(modifiers), from_shared = take_side(modifiers);
  if (!to_shared || !from_shared) return invalid("names no two spaces");
  form.to_shared = *to_shared, form.from_shared = *from_shared;
  form.barrier = modifiers.take("mbarrier::complete_tx::bytes");
  form.multicast = modifiers.take("multicast::cluster");
  const bool grouped = modifiers.take("bulk_group");
  const bool hinted = modifiers.take("L2::cache_hint");
  if (form.barrier == grouped || form.barrier != form.to_shared) return invalid("completes on a barrier when it goes to shared memory, in a group otherwise");
  const std::size_t needed = 3 + (form.barrier ? 1 : 0) + (form.multicast ? 1 : 0) + (hinted ? 1 : 0);
  if (instruction.operands.size() != needed) return invalid("expects " + std::to_string(needed) + " operands");
  DecodedOp op = make(&copy_bulk);
  std::vector<std::uint32_t> list;
  for (const std::size_t index : {0, 1}) add_address(context, instruction.operands[index], list);
  if (form.barrier) add_address(context, instruction.operands[3], list);
  op.list = context.add_list(list);
  op.b = value_row(context, instruction.operands[2], false);
  if (form.multicast) op.c = value_row(context, instruction.operands[4], false);
  op.extra = form.pack();
  return op;
}

}  // namespace

Result<DecodedOp> decode_bulk(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (modifiers.take("tensor")) return invalid("copies by tensor maps are not implemented");
  if (modifiers.take("prefetch")) return decode_prefetch(context, instruction, modifiers);
  if (modifiers.take("commit_group")) return make(&commit_bulk);
  if (modifiers.take("wait_group")) return decode_wait(context, instruction, modifiers);
  return decode_transfer(context, instruction, modifiers, {});
}

Result<DecodedOp> decode_bulk_reduce(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const Result<ElementType> type = take_type(modifiers);
  if (!type) return because(type.error());
  const Result<Change> change = take_change(modifiers);
  if (!change) return because(change.error());
  const Result<AtomicForm> atomic = form_of(*change, *type);
  if (!atomic) return because(atomic.error());
  modifiers.take("noftz");
  BulkForm form;
  form.reduces = true;
  form.change = *atomic;
  form.element_bytes = static_cast<std::uint8_t>(type->bytes);
  return decode_transfer(context, instruction, modifiers, form);
}

}  // namespace onelaunch::emu
