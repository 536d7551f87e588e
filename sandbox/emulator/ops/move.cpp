// mov in all its shapes, and createpolicy.

#include <cstring>

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::OperandReader;
using ops::Request;
using ops::Type;

template <class C, bool full>
void copy_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const C* const from = warp.row<C>(op.a);
  C* const to = warp.row_to_write<C>(op.dst);
  if constexpr (full) {
    std::memmove(to, from, kLanes * sizeof(C));
  } else {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) put<full>(to, i, from[i], mask);
  }
}

template <class C>
void special_row(Warp& warp, const DecodedOp& op, u32 mask) {
  C* const to = warp.row_to_write<C>(op.dst);
  for (u32 i = 0; i < kLanes; ++i)
    if (mask >> i & 1) to[i] = static_cast<C>(special_register(warp, op.extra, i));
}

// Packs `extra` parts of `bits` each, first part lowest, from the list of rows.
template <class C, int bits>
void pack_row(Warp& warp, const DecodedOp& op, u32 mask) {
  alignas(64) C word[kLanes] = {};
  for (u32 part = 0; part < op.extra; ++part) {
    const u32* const from = warp.row<u32>(warp.operands[op.list + part]);
    const u32 shift = part * bits;
    constexpr u32 kKeep = bits == 32 ? ~0u : 0xffffu;
    for (int i = 0; i < kLanes; ++i) word[i] |= static_cast<C>(C{from[i] & kKeep} << shift);
  }
  C* const to = warp.row_to_write<C>(op.dst);
  for (int i = 0; i < kLanes; ++i) put<false>(to, i, word[i], mask);
}

// The inverse; a part that goes nowhere has no operand. The source is copied: a destination may share its row.
template <class C, int bits>
void unpack_row(Warp& warp, const DecodedOp& op, u32 mask) {
  alignas(64) C word[kLanes];
  std::memcpy(word, warp.row<C>(op.a), sizeof word);
  for (u32 part = 0; part < op.extra; ++part) {
    const u32 operand = warp.operands[op.list + part];
    if (operand == kNoOperand) continue;
    u32* const to = warp.row_to_write<u32>(operand);
    const u32 shift = part * bits;
    constexpr u32 kKeep = bits == 32 ? ~0u : 0xffffu;
    for (int i = 0; i < kLanes; ++i) put<false>(to, i, static_cast<u32>(word[i] >> shift) & kKeep, mask);
  }
}

// The type of one of `parts` equal parts; nothing if mov has no such vector.
std::optional<Type> part_type(Type whole, std::size_t parts) {
  if (type_bits(whole) == 32 && parts == 2) return Type::b16;
  if (type_bits(whole) == 64 && parts == 2) return Type::b32;
  if (type_bits(whole) == 64 && parts == 4) return Type::b16;
  return std::nullopt;
}

Result<DecodedOp> make_unpack(const Request& request, OperandReader& reader) {
  const std::vector<LoweredOperand>& parts = reader.operand(0).elements;
  const std::optional<Type> part = part_type(request.type, parts.size());
  if (!part) return invalid("vector of " + std::to_string(parts.size()) + " is not implemented");
  OpFn run = &unpack_row<u32, 16>;
  if (is_wide(request.type)) run = *part == Type::b32 ? &unpack_row<u64, 32> : &unpack_row<u64, 16>;
  DecodedOp op = ops::start_op({run, run}, CostClass::free_op);
  op.a = reader.source(1, request.type);
  std::vector<u32> rows;
  for (const LoweredOperand& element : parts) rows.push_back(reader.optional_destination(element, *part));
  op.extra = static_cast<u32>(rows.size());
  op.list = reader.list(rows);
  return reader.finish(op);
}

Result<DecodedOp> make_pack(const Request& request, OperandReader& reader) {
  const std::vector<LoweredOperand>& parts = reader.operand(1).elements;
  const std::optional<Type> part = part_type(request.type, parts.size());
  if (!part) return invalid("vector of " + std::to_string(parts.size()) + " is not implemented");
  OpFn run = &pack_row<u32, 16>;
  if (is_wide(request.type)) run = *part == Type::b32 ? &pack_row<u64, 32> : &pack_row<u64, 16>;
  DecodedOp op = ops::start_op({run, run}, CostClass::free_op);
  op.dst = reader.destination(0, request.type);
  std::vector<u32> rows;
  for (const LoweredOperand& element : parts) rows.push_back(reader.source(element, *part));
  op.extra = static_cast<u32>(rows.size());
  op.list = reader.list(rows);
  return reader.finish(op);
}

Result<DecodedOp> make_special(const Request& request, OperandReader& reader) {
  const Result<std::uint32_t> number = special_register_number(reader.operand(1).special);
  if (!number) return because(number.error());
  const OpFn run = is_wide(request.type) ? &special_row<u64> : &special_row<u32>;
  DecodedOp op = ops::start_op({run, run}, CostClass::alu);
  op.dst = reader.destination(0, request.type);
  op.extra = *number;
  return reader.finish(op);
}

Result<DecodedOp> make_mov(Request& request) {
  OperandReader reader(request);
  reader.expect(2);
  if (reader.operand(0).kind == LoweredOperand::Kind::vector) return make_unpack(request, reader);
  if (reader.operand(1).kind == LoweredOperand::Kind::vector) return make_pack(request, reader);
  if (reader.operand(1).kind == LoweredOperand::Kind::special) return make_special(request, reader);
  const OpFns wide{&copy_row<u64, true>, &copy_row<u64, false>}, narrow{&copy_row<u32, true>, &copy_row<u32, false>};
  return make_op(request, is_wide(request.type) ? wide : narrow, request.type, {request.type}, CostClass::free_op);
}

void zero_row(Warp& warp, const DecodedOp& op, u32 mask) {
  u64* const to = warp.row_to_write<u64>(op.dst);
  for (int i = 0; i < kLanes; ++i) put<false>(to, i, u64{0}, mask);
}

// A cache policy changes speed only: any value will do.
Result<DecodedOp> make_createpolicy(Request& request) {
  while (!request.modifiers.left().empty()) (void)request.modifiers.take_last();
  OperandReader reader(request);
  DecodedOp op = ops::start_op({&zero_row, &zero_row}, CostClass::alu);
  op.dst = reader.destination(0, Type::b64);
  return reader.finish(op);
}

constexpr ops::TypeSet kMoved = {Type::b16, Type::u16, Type::s16, Type::f16, Type::bf16,   Type::b32,  Type::u32,
                                 Type::s32, Type::f32, Type::b64, Type::u64, Type::s64,    Type::f64,
                                 Type::f16x2, Type::bf16x2};

constexpr Form kForms[] = {
    {"mov", kMoved, make_mov},
    {"createpolicy", {Type::b64}, make_createpolicy},
};

}  // namespace

FormSpan move_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
