#include "sandbox/emulator/ops/forms.h"

#include <vector>

namespace onelaunch::emu::ops {

std::optional<Type> take_type(Modifiers& modifiers) {
  const std::span<const std::string_view> left = modifiers.left();
  for (std::size_t i = left.size(); i-- > 0;) {
    const std::optional<Type> type = parse_type(left[i]);
    if (!type) continue;
    const std::string_view name = type_name(*type);
    if (i + 1 == left.size()) {
      (void)modifiers.take_last();
    } else {
      (void)modifiers.take(name);
    }
    return type;
  }
  return std::nullopt;
}

Result<DecodedOp> make_from_forms(std::span<const std::span<const Form>> families, DecodeContext& context,
                                  const LoweredInstruction& instruction, Modifiers& modifiers) {
  const std::optional<Type> type = take_type(modifiers);
  if (!type) return invalid("no type modifier");
  for (const std::span<const Form> family : families) {
    for (const Form& form : family) {
      if (form.opcode != instruction.opcode || !form.types.contains(*type)) continue;
      Request request{context, instruction, modifiers, *type};
      return form.make(request);
    }
  }
  return invalid("type ." + std::string(type_name(*type)) + " is not implemented");
}

void OperandReader::fail_with(const std::string& what) {
  if (error_.empty()) error_ = what;
}

void OperandReader::expect(std::size_t count_min, std::size_t count_max) {
  if (operands_.size() >= count_min && operands_.size() <= count_max) return;
  fail_with("expected " + std::to_string(count_min) + " operands, found " + std::to_string(operands_.size()));
}

const LoweredOperand& OperandReader::operand(std::size_t i) const {
  static const LoweredOperand missing;
  return i < operands_.size() ? operands_[i] : missing;
}

namespace {

LoweredOperand::Kind kind_of(Type type) {
  if (type == Type::pred) return LoweredOperand::Kind::predicate;
  return is_wide(type) ? LoweredOperand::Kind::row64 : LoweredOperand::Kind::row32;
}

std::string mismatch(const LoweredOperand& operand, Type type) {
  if (operand.kind == LoweredOperand::Kind::special)
    return "special register " + operand.special + " as an operand is not implemented";
  return "an operand does not fit type ." + std::string(type_name(type));
}

}  // namespace

std::uint32_t OperandReader::optional_destination(const LoweredOperand& operand, Type type) {
  if (operand.kind == LoweredOperand::Kind::none) return kNoOperand;
  return destination(operand, type);
}

std::uint32_t OperandReader::destination(const LoweredOperand& operand, Type type) {
  // A destination is never a constant row, even when the register has only this one definition.
  if (operand.kind != kind_of(type) || operand.offset == kNoOperand || (operand.offset & kConstantBit)) {
    fail_with(mismatch(operand, type));
    return 0;
  }
  return operand.offset;
}

std::uint32_t OperandReader::source(const LoweredOperand& operand, Type type) {
  if (operand.constant && operand.kind != LoweredOperand::Kind::vector) {
    if (type == Type::pred) return context_.constant_predicate(operand.value != 0);
    // Cells of 16-bit values are zero-extended; the same constant is also a valid cell for 8-bit types.
    if (type_bits(type) == 16) return context_.constant32(static_cast<std::uint32_t>(operand.value) & 0xffffu);
    return is_wide(type) ? context_.constant64(operand.value)
                         : context_.constant32(static_cast<std::uint32_t>(operand.value));
  }
  if (operand.kind != kind_of(type) || operand.offset == kNoOperand) {
    fail_with(mismatch(operand, type));
    return 0;
  }
  return operand.offset;
}

std::uint32_t OperandReader::list(std::initializer_list<std::uint32_t> offsets) {
  return list(std::span<const std::uint32_t>(offsets.begin(), offsets.size()));
}

std::uint32_t OperandReader::list(std::span<const std::uint32_t> offsets) {
  return error_.empty() ? context_.add_list(offsets) : 0;
}

Result<DecodedOp> OperandReader::finish(const DecodedOp& op) const {
  if (!error_.empty()) return invalid(error_);
  return op;
}

DecodedOp start_op(OpFns fns, CostClass cost) {
  DecodedOp op;
  op.full = fns.full;
  op.masked = fns.masked;
  op.cost = cost;
  return op;
}

Result<DecodedOp> make_op(const Request& request, OpFns fns, Type destination, std::initializer_list<Type> sources,
                          CostClass cost, std::uint32_t extra, std::uint64_t imm) {
  OperandReader reader(request);
  reader.expect(1 + sources.size());
  DecodedOp op = start_op(fns, cost);
  op.dst = reader.destination(0, destination);
  std::uint32_t* const slots[3] = {&op.a, &op.b, &op.c};
  std::size_t i = 0;
  for (const Type type : sources) {
    *slots[i] = reader.source(i + 1, type);
    ++i;
  }
  op.extra = extra;
  op.imm = imm;
  return reader.finish(op);
}

}  // namespace onelaunch::emu::ops
