// atom and red: lane after lane, in ascending order unless the schedule is seeded.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat16.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/half.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

enum class Change : std::uint8_t { add, min, max, and_, or_, xor_, exch, cas, inc, dec };
enum class Number : std::uint8_t { unsigned_, signed_, f16, bf16, f32, f64 };

// Above the access form in DecodedOp::extra. A packed pair is one register of two numbers.
struct AtomicForm {
  Change change = Change::add;
  Number number = Number::unsigned_;
  bool returns = false, packed = false;

  std::uint32_t pack() const {
    return (static_cast<std::uint32_t>(change) | static_cast<std::uint32_t>(number) << 4 | std::uint32_t{returns} << 8 |
            std::uint32_t{packed} << 9) << kFormBits;
  }
  static AtomicForm unpack(std::uint32_t extra) {
    const std::uint32_t bits = extra >> kFormBits;
    return {static_cast<Change>(bits & 15), static_cast<Number>(bits >> 4 & 15), (bits >> 8 & 1) != 0, (bits >> 9 & 1) != 0};
  }
};

template <class T>
T change_integer(Change change, T old, T operand, T replacement) {
  switch (change) {
    case Change::add: return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(operand));
    case Change::min: return std::min(old, operand);
    case Change::max: return std::max(old, operand);
    case Change::and_: return static_cast<T>(old & operand);
    case Change::or_: return static_cast<T>(old | operand);
    case Change::xor_: return static_cast<T>(old ^ operand);
    case Change::exch: return operand;
    case Change::cas: return old == operand ? replacement : old;
    case Change::inc: return static_cast<T>(old >= operand ? 0 : old + 1);
    case Change::dec: return static_cast<T>(old == 0 || old > operand ? operand : old - 1);
  }
  return old;
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

// Global f32 additions flush subnormal operands and results, shared ones keep them (measured on an H200).
std::uint64_t add_float(std::uint64_t old, std::uint64_t operand, bool flush) {
  float a = std::bit_cast<float>(static_cast<std::uint32_t>(old)), b = std::bit_cast<float>(static_cast<std::uint32_t>(operand));
  if (flush) a = flushed(a), b = flushed(b);
  float sum = a + b;
  if (flush) sum = flushed(sum);
  return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(sum);
}

template <class ToFloat, class FromDouble>
std::uint64_t change_half(Change change, std::uint64_t old, std::uint64_t operand, ToFloat widen, FromDouble narrow) {
  const double a = widen(static_cast<std::uint16_t>(old)), b = widen(static_cast<std::uint16_t>(operand));
  if (change == Change::add) return narrow(a + b);  // exact in double
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? operand : old;
  const bool take = change == Change::min ? (b < a || (b == a && std::signbit(b))) : (b > a || (b == a && !std::signbit(b)));
  return take ? operand : old;
}

std::uint64_t change_double(std::uint64_t old, std::uint64_t operand) {
  const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(operand);
  return std::isnan(sum) ? 0x7fffffffffffffffull : std::bit_cast<std::uint64_t>(sum);
}

std::uint64_t changed(AtomicForm form, unsigned bytes, std::uint64_t old, std::uint64_t operand, std::uint64_t replacement, bool flush) {
  const bool bitwise = form.change == Change::exch || form.change == Change::cas;
  if (!bitwise) {
    switch (form.number) {
      case Number::f32: return add_float(old, operand, flush);
      case Number::f64: return change_double(old, operand);
      case Number::f16: return change_half(form.change, old, operand, half_to_float, double_to_half);
      case Number::bf16: return change_half(form.change, old, operand, bf16_to_float, double_to_bf16);
      default: break;
    }
  }
  if (form.number == Number::signed_ && bytes == 4) {
    return static_cast<std::uint32_t>(change_integer(form.change, static_cast<std::int32_t>(old), static_cast<std::int32_t>(operand),
                                                     static_cast<std::int32_t>(replacement)));
  }
  if (form.number == Number::signed_) {
    return static_cast<std::uint64_t>(change_integer(form.change, static_cast<std::int64_t>(old), static_cast<std::int64_t>(operand),
                                                     static_cast<std::int64_t>(replacement)));
  }
  if (bytes == 2) return change_integer(form.change, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand), static_cast<std::uint16_t>(replacement));
  if (bytes == 4) return change_integer(form.change, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand), static_cast<std::uint32_t>(replacement));
  return change_integer(form.change, old, operand, replacement);
}

std::uint64_t read_row(const Warp& warp, std::uint32_t reg, bool wide, unsigned lane) {
  if (reg == kNoOperand) return 0;
  return wide ? warp.row<std::uint64_t>(reg)[lane] : warp.row<std::uint32_t>(reg)[lane];
}

void write_row(Warp& warp, std::uint32_t reg, bool wide, unsigned lane, std::uint64_t bits) {
  if (reg == kNoOperand) return;
  if (wide) warp.row_to_write<std::uint64_t>(reg)[lane] = bits;
  else warp.row_to_write<std::uint32_t>(reg)[lane] = static_cast<std::uint32_t>(bits);
}

// One register's worth: one number, or a packed pair of 16-bit ones.
std::uint64_t changed_register(AtomicForm atomic, unsigned bytes, std::uint64_t old, std::uint64_t operand, std::uint64_t replacement, bool flush) {
  if (!atomic.packed) return changed(atomic, bytes, old, operand, replacement, flush);
  const std::uint64_t low = changed(atomic, 2, old & 0xffff, operand & 0xffff, 0, flush);
  return low | changed(atomic, 2, old >> 16 & 0xffff, operand >> 16 & 0xffff, 0, flush) << 16;
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

Result<Change> take_change(Modifiers& modifiers) {
  constexpr std::string_view kNames[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    if (modifiers.take(kNames[i])) return static_cast<Change>(i);
  }
  return invalid("names no operation that is understood");
}

Result<AtomicForm> form_of(Change change, const ElementType& type) {
  AtomicForm form;
  form.change = change;
  form.packed = type.name.ends_with("x2");
  const bool floating = type.name.find('f') != std::string::npos;
  if (type.is_signed) form.number = Number::signed_;
  if (type.name.starts_with("f16")) form.number = Number::f16;
  if (type.name.starts_with("bf16")) form.number = Number::bf16;
  if (type.name == "f32") form.number = Number::f32;
  if (type.name == "f64") form.number = Number::f64;
  if (type.bytes == 16 || type.bytes == 1) return invalid("type ." + type.name + " is not implemented for atomics");
  const bool wide_float = type.name == "f32" || type.name == "f64";
  const bool plain = change == Change::exch || change == Change::cas;
  const bool allowed = !floating || plain || change == Change::add || (!wide_float && (change == Change::min || change == Change::max));
  if (!allowed) return invalid("type ." + type.name + " does not have this operation");
  return form;
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
