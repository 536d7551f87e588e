// atom and red: lane after lane, in ascending order unless the schedule is seeded.
#include <algorithm>
#include <bit>
#include <cstring>

#include "sandbox/emulator/async/rows.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/change.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

std::uint64_t read_row(const Warp& warp, std::uint32_t reg, bool wide, unsigned lane) {
  if (reg == kNoOperand) return 0;
  return wide ? warp.row<std::uint64_t>(reg)[lane] : warp.row<std::uint32_t>(reg)[lane];
}

void write_row(Warp& warp, std::uint32_t reg, bool wide, unsigned lane, std::uint64_t bits) {
  if (reg == kNoOperand) return;
  if (wide) warp.row_to_write<std::uint64_t>(reg)[lane] = bits;
  else warp.row_to_write<std::uint32_t>(reg)[lane] = static_cast<std::uint32_t>(bits);
}

struct LaneResult {
  bool altered = false;
  std::uint64_t old = 0;
};

// Registers: of one element dst and b; of several the list holds all destinations, then all operands.
LaneResult change_lane(Warp& warp, const DecodedOp& op, AccessForm form, AtomicForm atomic, const Place& place, unsigned lane) {
  LaneResult result;
  const unsigned size = form.element_bytes();
  const bool flush = place.space == MemorySpace::global;
  for (unsigned j = 0; j < form.count; ++j) {
    const std::uint32_t to = form.count == 1 ? op.dst : warp.operands[op.list + j];
    const std::uint32_t from = form.count == 1 ? op.b : warp.operands[op.list + form.count + j];
    std::uint64_t old = 0;
    std::memcpy(&old, place.data + j * size, size);
    const std::uint64_t operand = read_row(warp, from, form.wide_register, lane);
    const std::uint64_t next = changed_register(atomic, size, old, operand, read_row(warp, op.c, form.wide_register, lane), flush);
    std::memcpy(place.data + j * size, &next, size);
    result.altered = result.altered || std::memcmp(&next, &old, size) != 0;
    result.old = result.old * 3 ^ old;
    if (atomic.returns) write_row(warp, to, form.wide_register, lane, old);
  }
  return result;
}

void run_lane(Warp& warp, const DecodedOp& op, AccessForm form, AtomicForm atomic, unsigned lane, bool& global) {
  const std::uint64_t address = lane_address(warp, op, form, lane);
  const Place place = place_of(warp, op, form.space, address, op.bytes, lane, Access::write);
  if (!place.data) return;
  const std::uint64_t host = reinterpret_cast<std::uint64_t>(place.data);
  const LaneResult result = change_lane(warp, op, form, atomic, place, lane);
  ++warp.work->atomics;
  if (place.allocation) {
    global = true;
    touch(warp, *place.allocation, address, op.bytes, Access::write);
    // Half of a spin lock's attempts only look: those that changed nothing are polls.
    if (!result.altered && atomic.returns) join_stamp(warp, address);
  }
  if (!result.altered && atomic.returns) return warp.polls->add(host, result.old, op.site, lane, op.bytes);
  note_written(warp, host, op.bytes);
  note_effect(warp);
  if (place.allocation) {
    for (unsigned at = 0; at < op.bytes; at += 4) stamp_atomic(warp, op, address + at, lane);
  }
}

void run_atomic(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  const AtomicForm atomic = AtomicForm::unpack(op.extra);
  bool global = false;
  if (warp.grid->schedule_seed == 0) {
    each_lane(mask, [&](unsigned lane) { run_lane(warp, op, form, atomic, lane, global); });
  } else {
    unsigned lanes[32], count = 0;
    each_lane(mask, [&](unsigned lane) { lanes[count++] = lane; });
    for (unsigned left = count; left > 1; --left) std::swap(lanes[left - 1], lanes[warp.grid->random() % left]);
    for (unsigned i = 0; i < count; ++i) run_lane(warp, op, form, atomic, lanes[i], global);
  }
  if (global && atomic.returns && warp.polls->previous == 0) warp.chain_cycles += warp.grid->chain.atomic_cycles;
}

void set_registers(DecodeContext& context, const LoweredInstruction& instruction, std::size_t values, const AccessForm& form, bool returns, DecodedOp& op) {
  const auto rows_of = [&](const LoweredOperand& operand, bool destination) {
    std::vector<std::uint32_t> rows;
    const auto row = [&](const LoweredOperand& o) { rows.push_back(destination ? o.offset : value_row(context, o, form.wide_register)); };
    if (operand.kind == LoweredOperand::Kind::vector) for (const LoweredOperand& element : operand.elements) row(element);
    else row(operand);
    return rows;
  };
  std::vector<std::uint32_t> list(form.count, kNoOperand);
  if (returns) list = rows_of(instruction.operands[0], true);
  const std::vector<std::uint32_t> operands = rows_of(instruction.operands[values], false);
  if (form.count == 1) {
    op.dst = list[0];
    op.b = operands[0];
  } else {
    list.insert(list.end(), operands.begin(), operands.end());
    op.list = context.add_list(list);
  }
}

}  // namespace

Result<DecodedOp> decode_atomic(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const bool returns = instruction.opcode == "atom";
  if (modifiers.take("async")) return decode_async_red(context, instruction, modifiers);
  const std::size_t address = returns ? 1 : 0;
  const Result<ElementType> type = take_type(modifiers);
  if (!type) return because(type.error());
  const Result<Change> change = take_change(modifiers);
  if (!change) return because(change.error());
  Result<AtomicForm> atomic = form_of(*change, *type);
  if (!atomic) return because(atomic.error());
  atomic->returns = returns;
  AccessForm form;
  form.space = take_space(modifiers);
  take_order(modifiers);
  form.strong = true;
  take_cache_hints(modifiers);
  modifiers.take("noftz");
  form.count = static_cast<std::uint8_t>(take_vector(modifiers));
  form.element_log2 = static_cast<std::uint8_t>(std::countr_zero(type->bytes));
  form.wide_register = type->bytes == 8;
  const std::size_t needed = address + (*change == Change::cas ? 3 : 2);
  if (instruction.operands.size() < needed) return invalid("expects " + std::to_string(needed) + " operands");
  const LoweredOperand& values = instruction.operands[address + 1];
  if ((values.kind == LoweredOperand::Kind::vector ? values.elements.size() : 1) != form.count) return invalid("has a vector of the wrong size");
  DecodedOp op;
  op.cost = CostClass::load_store;
  op.bytes = static_cast<std::uint8_t>(form.count << form.element_log2);
  set_address(context, instruction.operands[address], form, op);
  set_registers(context, instruction, address + 1, form, returns, op);
  if (*change == Change::cas) op.c = value_row(context, instruction.operands[address + 2], form.wide_register);
  op.extra = form.pack() | atomic->pack();
  op.control = Control::poll;
  op.full = op.masked = &run_atomic;
  return op;
}

}  // namespace onelaunch::emu
