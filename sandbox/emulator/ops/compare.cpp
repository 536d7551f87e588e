// setp, testp and set.

#include "sandbox/emulator/ops/comparison.h"
#include "sandbox/emulator/ops/families.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::OperandReader;
using ops::Request;
using ops::Type;

u32 answer_of(const DecodedOp& op, u32 lanes) { return op.extra & kInvert ? ~lanes : lanes; }

template <class Reader, Test test>
[[gnu::flatten]] u32 answers(const Warp& warp, const DecodedOp& op) {
  using Row = typename Reader::Row;
  return answer_of(op, lanes_where<Reader, test>(warp.row<Row>(op.a), warp.row<Row>(op.b)));
}

// Both destinations: p = test op c, q = !test op c. imm holds the offset of q.
inline void write_predicates(Warp& warp, const DecodedOp& op, u32 lanes, u32 mask) {
  const u32 p = combined(warp, op, lanes), q = combined(warp, op, ~lanes);
  if (op.dst != kNoOperand) warp.set_predicate(op.dst, p, mask);
  if (op.imm != kNoOperand) warp.set_predicate(static_cast<u32>(op.imm), q, mask);
}

template <class Reader, Test test>
void setp_row(Warp& warp, const DecodedOp& op, u32 mask) {
  write_predicates(warp, op, answers<Reader, test>(warp, op), mask);
}

// The common case: one destination and nothing to combine with.
template <class Reader, Test test>
void setp_plain_row(Warp& warp, const DecodedOp& op, u32 mask) {
  warp.set_predicate(op.dst, answers<Reader, test>(warp, op), mask);
}

template <class Reader, Test test>
struct SetpFns {
  static OpFns fns() { return {&setp_row<Reader, test>, &setp_row<Reader, test>}; }
};
template <class Reader, Test test>
struct SetpPlainFns {
  static OpFns fns() { return {&setp_plain_row<Reader, test>, &setp_plain_row<Reader, test>}; }
};

// Packed halves: p from the low halves, q from the high ones, each combined with c.
template <class Half>
struct SetpPair {
  template <class Reader, Test test>
  struct Fns {
    static void row(Warp& warp, const DecodedOp& op, u32 mask) {
      const u32 low = combined(warp, op, answers<LowHalf<Half>, test>(warp, op));
      const u32 high = combined(warp, op, answers<HighHalf<Half>, test>(warp, op));
      if (op.dst != kNoOperand) warp.set_predicate(op.dst, low, mask);
      if (op.imm != kNoOperand) warp.set_predicate(static_cast<u32>(op.imm), high, mask);
    }
    static OpFns fns() { return {&row, &row}; }
  };
};

// Reads comparison, operands from `first_source` on and the combination into op.
Result<Test> read_comparison(const Request& request, OperandReader& reader, DecodedOp& op) {
  const std::optional<Comparison> comparison = take_comparison(request.modifiers, request.type);
  if (!comparison) return invalid("no comparison of type ." + std::string(type_name(request.type)));
  op.a = reader.source(comparison->swapped ? 2 : 1, request.type);
  op.b = reader.source(comparison->swapped ? 1 : 2, request.type);
  op.extra = comparison->inverted ? kInvert : 0;
  const std::string_view combine = request.modifiers.take_one_of({"and", "or", "xor"});
  if (combine.empty()) {
    reader.expect(3);
    return comparison->test;
  }
  reader.expect(4);
  op.c = reader.source(3, Type::pred);
  const Combine with = combine == "and" ? Combine::with_and : combine == "or" ? Combine::with_or : Combine::with_xor;
  op.extra |= static_cast<u32>(with) << kCombineShift | (reader.negated(3) ? kNegatedC : 0);
  return comparison->test;
}

void read_destinations(OperandReader& reader, DecodedOp& op) {
  const LoweredOperand& to = reader.operand(0);
  op.imm = kNoOperand;
  if (to.kind == LoweredOperand::Kind::vector && to.elements.size() == 2) {
    op.dst = reader.optional_destination(to.elements[0], Type::pred);
    op.imm = reader.optional_destination(to.elements[1], Type::pred);
  } else {
    op.dst = reader.optional_destination(to, Type::pred);
  }
}

Result<DecodedOp> make_setp(Request& request) {
  OperandReader reader(request);
  DecodedOp op = ops::start_op({}, CostClass::alu);
  const Result<Test> test = read_comparison(request, reader, op);
  if (!test) return because(test.error());
  read_destinations(reader, op);
  const Type type = request.type;
  OpFns chosen;
  if (type == Type::f16x2)
    chosen = request.modifiers.take("ftz")
                 ? float_test_fns<SetpPair<Flushing<F16>>::Fns, LowHalf<Flushing<F16>>>(*test)
                 : float_test_fns<SetpPair<F16>::Fns, LowHalf<F16>>(*test);
  else if (type == Type::bf16x2) chosen = float_test_fns<SetpPair<Bf16>::Fns, LowHalf<Bf16>>(*test);
  else if (op.c == kNoOperand && op.imm == kNoOperand && op.dst != kNoOperand)
    chosen = test_fns<SetpPlainFns>(type, *test, request.modifiers);
  else chosen = test_fns<SetpFns>(type, *test, request.modifiers);
  op.full = chosen.full;
  op.masked = chosen.masked;
  return reader.finish(op);
}

// testp: the class of a number, from its bits; zero counts as normal. extra: what to test.
enum class NumberClass : u32 { finite, infinite, number, notanumber, normal, subnormal };

template <class C>
bool is_of_class(C bits, NumberClass wanted) {
  constexpr int kFraction = sizeof(C) == 8 ? 52 : 23;
  constexpr C kInfinity = sizeof(C) == 8 ? static_cast<C>(0x7ff0000000000000u) : static_cast<C>(0x7f800000u);
  const C magnitude = bits & (static_cast<C>(~C{0}) >> 1);
  switch (wanted) {
    case NumberClass::finite: return magnitude < kInfinity;
    case NumberClass::infinite: return magnitude == kInfinity;
    case NumberClass::number: return magnitude <= kInfinity;
    case NumberClass::notanumber: return magnitude > kInfinity;
    case NumberClass::normal: return magnitude == 0 || (magnitude < kInfinity && magnitude >> kFraction != 0);
    default: return magnitude != 0 && magnitude >> kFraction == 0;
  }
}

template <class C>
void testp_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const C* const a = warp.row<C>(op.a);
  u32 lanes = 0;
  for (u32 i = 0; i < kLanes; ++i)
    lanes |= u32{is_of_class<C>(a[i], static_cast<NumberClass>(op.extra))} << i;
  warp.set_predicate(op.dst, lanes, mask);
}

Result<DecodedOp> make_testp(Request& request) {
  constexpr std::string_view kNames[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (u32 i = 0; i < 6; ++i) {
    if (!request.modifiers.take(kNames[i])) continue;
    const OpFns wide{&testp_row<u64>, &testp_row<u64>}, narrow{&testp_row<u32>, &testp_row<u32>};
    return make_op(request, is_wide(request.type) ? wide : narrow, Type::pred, {request.type}, CostClass::alu, i);
  }
  return invalid("needs the class to test for");
}

// set: the answer as a number, all ones or 1.0 (imm) where it is yes.
template <class Reader, Test test>
struct SetFns {
  static void row(Warp& warp, const DecodedOp& op, u32 mask) {
    const u32 lanes = combined(warp, op, answers<Reader, test>(warp, op));
    u32* const to = warp.row_to_write<u32>(op.dst);
    const u32 yes = static_cast<u32>(op.imm);
    for (int i = 0; i < kLanes; ++i) put<false>(to, i, lanes & kLaneBits<u32>.bit[i] ? yes : 0u, mask);
  }
  static OpFns fns() { return {&row, &row}; }
};

template <class Half>
struct SetPair {
  template <class Reader, Test test>
  struct Fns {
    static void row(Warp& warp, const DecodedOp& op, u32 mask) {
      const u32 low = combined(warp, op, answers<LowHalf<Half>, test>(warp, op));
      const u32 high = combined(warp, op, answers<HighHalf<Half>, test>(warp, op));
      u32* const to = warp.row_to_write<u32>(op.dst);
      const u32 yes = static_cast<u32>(op.imm);
      for (int i = 0; i < kLanes; ++i) {
        const u32 bit = kLaneBits<u32>.bit[i];
        put<false>(to, i, (low & bit ? yes & 0xffffu : 0u) | (high & bit ? yes & 0xffff0000u : 0u), mask);
      }
    }
    static OpFns fns() { return {&row, &row}; }
  };
};

// What yes is in the type of the result; nothing if set has no such result.
std::optional<u32> yes_of(Type type) {
  switch (type) {
    case Type::u32:
    case Type::s32: return 0xffffffffu;
    case Type::u16:
    case Type::s16: return 0xffffu;
    case Type::f32: return 0x3f800000u;
    case Type::f16: return 0x3c00u;
    case Type::bf16: return 0x3f80u;
    case Type::f16x2: return 0x3c003c00u;
    case Type::bf16x2: return 0x3f803f80u;
    default: return std::nullopt;
  }
}

constexpr ops::TypeSet kCompared = {Type::b16, Type::u16, Type::s16, Type::b32,   Type::u32,  Type::s32,    Type::b64,
                                    Type::u64, Type::s64, Type::f16, Type::f16x2, Type::bf16, Type::bf16x2, Type::f32,
                                    Type::f64};

constexpr Form kForms[] = {
    {"setp", kCompared, make_setp},
    {"testp", {Type::f32, Type::f64}, make_testp},
};

}  // namespace

FormSpan compare_forms() { return kForms; }

Result<DecodedOp> make_set(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const std::optional<Type> source = ops::take_type(modifiers), result = ops::take_type(modifiers);
  if (!source || !result || !kCompared.contains(*source)) return invalid("needs the types of result and sources");
  const std::optional<u32> yes = yes_of(*result);
  if (!yes) return invalid("result of type ." + std::string(type_name(*result)) + " is not implemented");
  const Request request{context, instruction, modifiers, *source};
  OperandReader reader(request);
  DecodedOp op = ops::start_op({}, CostClass::alu);
  const Result<Test> test = read_comparison(request, reader, op);
  if (!test) return because(test.error());
  op.dst = reader.destination(0, *result);
  op.imm = *yes;
  OpFns chosen;
  if (*source == Type::f16x2)
    chosen = modifiers.take("ftz") ? float_test_fns<SetPair<Flushing<F16>>::Fns, LowHalf<Flushing<F16>>>(*test)
                                   : float_test_fns<SetPair<F16>::Fns, LowHalf<F16>>(*test);
  else if (*source == Type::bf16x2) chosen = float_test_fns<SetPair<Bf16>::Fns, LowHalf<Bf16>>(*test);
  else chosen = test_fns<SetFns>(*source, *test, modifiers);
  op.full = chosen.full;
  op.masked = chosen.masked;
  return reader.finish(op);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
