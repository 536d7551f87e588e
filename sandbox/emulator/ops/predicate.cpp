// Operations on predicates, which are lane masks, and choices by a predicate or a sign.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/float_bits.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::OperandReader;
using ops::Request;
using ops::Type;

// extra: bit 0 and bit 1, sources a and b are negated.
u32 read_negated(const Warp& warp, u32 operand, u32 negated) {
  return warp.predicate(operand) ^ (negated ? ~0u : 0u);
}

struct And { static u32 of(u32 a, u32 b) { return a & b; } };
struct Or { static u32 of(u32 a, u32 b) { return a | b; } };
struct Xor { static u32 of(u32 a, u32 b) { return a ^ b; } };

template <class Logic>
void logic_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const u32 a = read_negated(warp, op.a, op.extra & 1), b = read_negated(warp, op.b, op.extra & 2);
  warp.set_predicate(op.dst, Logic::of(a, b), mask);
}

void copy_row(Warp& warp, const DecodedOp& op, u32 mask) {
  warp.set_predicate(op.dst, read_negated(warp, op.a, op.extra & 1), mask);
}

template <class Logic>
Result<DecodedOp> make_logic(Request& request) {
  OperandReader reader(request);
  return make_op(request, {&logic_row<Logic>, &logic_row<Logic>}, Type::pred, {Type::pred, Type::pred},
                 CostClass::alu, reader.negated(1) | reader.negated(2) << 1);
}

Result<DecodedOp> make_copy(Request& request) {
  return make_op(request, {&copy_row, &copy_row}, Type::pred, {Type::pred}, CostClass::free_op,
                 OperandReader(request).negated(1));
}

Result<DecodedOp> make_not(Request& request) {
  return make_op(request, {&copy_row, &copy_row}, Type::pred, {Type::pred}, CostClass::alu,
                 OperandReader(request).negated(1) ^ 1u);
}

template <class C, bool full>
void select_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const u32 chosen = read_negated(warp, op.c, op.extra);
  const C* const a = warp.row<C>(op.a);
  const C* const b = warp.row<C>(op.b);
  C* const to = warp.row_to_write<C>(op.dst);
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    const C x = a[i], y = b[i];
    put<full>(to, i, (C{chosen} & kLaneBits<C>.bit[i]) != 0 ? x : y, mask);
  }
}

Result<DecodedOp> make_selp(Request& request) {
  const OpFns wide{&select_row<u64, true>, &select_row<u64, false>};
  const OpFns narrow{&select_row<u32, true>, &select_row<u32, false>};
  return make_op(request, is_wide(request.type) ? wide : narrow, request.type,
                 {request.type, request.type, Type::pred}, CostClass::alu, OperandReader(request).negated(3));
}

// slct: a where c is at least zero, else b. C is the cell of a and b.
template <class C>
struct SelectBySign : Stateless {
  using Stateless::Stateless;
  C operator()(C a, C b, s32 c) const { return c >= 0 ? a : b; }
};

// -0 counts as zero, NaN as below. extra: subnormals are zero.
template <class C>
struct SelectByFloat {
  bool ftz;
  explicit SelectByFloat(const DecodedOp& op) : ftz(op.extra != 0) {}
  C operator()(C a, C b, float c) const { return (ftz ? flushed<true>(c) : c) >= 0.0f ? a : b; }
};

constexpr ops::TypeSet kPred = {Type::pred};
constexpr ops::TypeSet kAll = {Type::b16, Type::u16, Type::s16, Type::b32, Type::u32, Type::s32, Type::b64, Type::u64,
                               Type::s64, Type::f32, Type::f64, Type::f16, Type::bf16, Type::f16x2, Type::bf16x2};

constexpr Form kForms[] = {
    {"and", kPred, make_logic<And>}, {"or", kPred, make_logic<Or>}, {"xor", kPred, make_logic<Xor>},
    {"not", kPred, make_not},        {"mov", kPred, make_copy},     {"selp", kAll, make_selp},
};

}  // namespace

FormSpan predicate_forms() { return kForms; }

Result<DecodedOp> make_slct(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const std::optional<Type> by = ops::take_type(modifiers), type = ops::take_type(modifiers);
  if (!by || !type || (*by != Type::s32 && *by != Type::f32)) return invalid("needs a type and .s32 or .f32");
  const Request request{context, instruction, modifiers, *type};
  const bool ftz = modifiers.take("ftz"), wide = is_wide(*type);
  OpFns chosen;
  if (*by == Type::s32) chosen = wide ? fns<SelectBySign<u64>>() : fns<SelectBySign<u32>>();
  else chosen = wide ? fns<SelectByFloat<u64>>() : fns<SelectByFloat<u32>>();
  return make_op(request, chosen, *type, {*type, *type, *by}, CostClass::alu, ftz);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
