// Operations across the lanes of a warp. The run loop gathers the lanes of the membermask (operand c) first, so the
// mask here is the set of those that take part.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::OperandReader;
using ops::Request;
using ops::Type;

enum class Shuffle : u32 { up, down, bfly, idx };

struct ShuffleSources {
  u32 lane[kLanes];  // where each lane reads
  u32 inside = 0;    // lanes whose source lies in their segment
};

// b: lane or distance. clamp: bits 0-4 the last lane, bits 8-12 the lanes that make up the segment.
template <Shuffle mode>
inline void find_sources(const u32* b, const u32* clamp, ShuffleSources& sources) {
  u32 inside = 0;
  for (int i = 0; i < kLanes; ++i) {
    const s32 lane = i, by = static_cast<s32>(b[i] & 31u);
    const s32 segment = static_cast<s32>(clamp[i] >> 8 & 31u), last = static_cast<s32>(clamp[i] & 31u);
    const s32 limit = (lane & segment) | (last & ~segment);
    s32 from = (lane & segment) | (by & ~segment);
    if (mode == Shuffle::up) from = lane - by;
    if (mode == Shuffle::down) from = lane + by;
    if (mode == Shuffle::bfly) from = lane ^ by;
    const bool in = mode == Shuffle::up ? from >= limit : from <= limit;
    sources.lane[i] = static_cast<u32>(in ? from : lane) & 31u;
    inside |= in ? kLaneBits<u32>.bit[i] : 0u;
  }
  sources.inside = inside;
}

// list: row of the clamp operand, offset of the predicate or kNoOperand.
template <Shuffle mode, bool full>
void shuffle_row(Warp& warp, const DecodedOp& op, u32 mask) {
  ShuffleSources sources;
  find_sources<mode>(warp.row<u32>(op.b), warp.row<u32>(warp.operands[op.list]), sources);
  const u32* const a = warp.row<u32>(op.a);
  alignas(64) u32 value[kLanes];
  for (int i = 0; i < kLanes; ++i) value[i] = a[sources.lane[i]];
  if (op.dst != kNoOperand) {
    u32* const to = warp.row_to_write<u32>(op.dst);
    for (int i = 0; i < kLanes; ++i) put<full>(to, i, value[i], mask);
  }
  const u32 predicate = warp.operands[op.list + 1];
  if (predicate != kNoOperand) warp.set_predicate(predicate, sources.inside, mask);
}

template <Shuffle mode>
OpFns shuffle_fns() {
  return {&shuffle_row<mode, true>, &shuffle_row<mode, false>};
}

OpFns shuffle_fns(std::string_view mode) {
  if (mode == "up") return shuffle_fns<Shuffle::up>();
  if (mode == "down") return shuffle_fns<Shuffle::down>();
  return mode == "bfly" ? shuffle_fns<Shuffle::bfly>() : shuffle_fns<Shuffle::idx>();
}

// A destination or a pair `d|p`, of which either may be `_`.
struct Destinations {
  u32 value = kNoOperand, predicate = kNoOperand;
};

Destinations read_destinations(OperandReader& reader, Type type) {
  const LoweredOperand& to = reader.operand(0);
  if (to.kind != LoweredOperand::Kind::vector) return {reader.optional_destination(to, type), kNoOperand};
  if (to.elements.size() != 2) {
    reader.fail_with("the destination must be a register or a pair");
    return {};
  }
  return {reader.optional_destination(to.elements[0], type), reader.optional_destination(to.elements[1], Type::pred)};
}

DecodedOp start_collective(OpFns fns) {
  DecodedOp op = ops::start_op(fns, CostClass::alu);
  op.control = Control::warp_collective;
  return op;
}

Result<DecodedOp> make_shfl(Request& request) {
  if (!request.modifiers.take("sync")) return invalid("only the .sync form is implemented");
  const std::string_view mode = request.modifiers.take_one_of({"up", "down", "bfly", "idx"});
  if (mode.empty()) return invalid("needs .up, .down, .bfly or .idx");
  OperandReader reader(request);
  reader.expect(5);
  DecodedOp op = start_collective(shuffle_fns(mode));
  const Destinations to = read_destinations(reader, Type::b32);
  op.dst = to.value;
  op.a = reader.source(1, Type::b32);
  op.b = reader.source(2, Type::b32);
  op.c = reader.source(4, Type::b32);
  op.list = reader.list({reader.source(3, Type::b32), to.predicate});
  return reader.finish(op);
}

u32 voters(const Warp& warp, const DecodedOp& op) { return warp.predicate(op.a) ^ (op.extra & 1 ? ~0u : 0u); }

struct All { static bool of(u32 yes, u32 mask) { return yes == mask; } };
struct Any { static bool of(u32 yes, u32) { return yes != 0; } };
struct Uniform { static bool of(u32 yes, u32 mask) { return yes == mask || yes == 0; } };

template <class Rule>
void vote_row(Warp& warp, const DecodedOp& op, u32 mask) {
  warp.set_predicate(op.dst, Rule::of(voters(warp, op) & mask, mask) ? ~0u : 0u, mask);
}

void fill(Warp& warp, u32 operand, u32 value, u32 mask) {
  u32* const to = warp.row_to_write<u32>(operand);
  for (int i = 0; i < kLanes; ++i) put<false>(to, i, value, mask);
}

void ballot_row(Warp& warp, const DecodedOp& op, u32 mask) { fill(warp, op.dst, voters(warp, op) & mask, mask); }
void activemask_row(Warp& warp, const DecodedOp& op, u32 mask) { fill(warp, op.dst, mask, mask); }

Result<DecodedOp> make_vote(Request& request) {
  if (!request.modifiers.take("sync")) return invalid("only the .sync form is implemented");
  const std::string_view mode = request.modifiers.take_one_of({"all", "any", "uni", "ballot"});
  if (mode.empty() || (mode == "ballot") != (request.type == Type::b32)) return invalid("unknown kind of vote");
  OpFn run = &ballot_row;
  if (mode == "all") run = &vote_row<All>;
  if (mode == "any") run = &vote_row<Any>;
  if (mode == "uni") run = &vote_row<Uniform>;
  OperandReader reader(request);
  reader.expect(3);
  DecodedOp op = start_collective({run, run});
  op.dst = reader.destination(0, request.type);
  op.a = reader.source(1, Type::pred);
  op.c = reader.source(2, Type::b32);
  op.extra = reader.negated(1);
  return reader.finish(op);
}

template <class C>
void match_any_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const C* const a = warp.row<C>(op.a);
  u32 same[kLanes] = {};
  for (u32 i = 0; i < kLanes; ++i)
    for (u32 j = 0; j < kLanes; ++j) same[i] |= u32{a[i] == a[j]} << j & mask;
  u32* const to = warp.row_to_write<u32>(op.dst);
  for (int i = 0; i < kLanes; ++i) put<false>(to, i, same[i], mask);
}

// list: offset of the predicate or kNoOperand.
template <class C>
void match_all_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const C* const a = warp.row<C>(op.a);
  const C first = a[std::countr_zero(mask)];
  u32 same = 0;
  for (u32 i = 0; i < kLanes; ++i) same |= u32{a[i] == first} << i & mask;
  const bool all = same == mask;
  if (op.dst != kNoOperand) fill(warp, op.dst, all ? mask : 0u, mask);
  const u32 predicate = warp.operands[op.list];
  if (predicate != kNoOperand) warp.set_predicate(predicate, all ? ~0u : 0u, mask);
}

Result<DecodedOp> make_match(Request& request) {
  if (!request.modifiers.take("sync")) return invalid("only the .sync form is implemented");
  const bool all = request.modifiers.take("all"), wide = is_wide(request.type);
  if (!all && !request.modifiers.take("any")) return invalid("needs .all or .any");
  OpFn run = wide ? &match_any_row<u64> : &match_any_row<u32>;
  if (all) run = wide ? &match_all_row<u64> : &match_all_row<u32>;
  OperandReader reader(request);
  reader.expect(3);
  DecodedOp op = start_collective({run, run});
  const Destinations to = read_destinations(reader, Type::b32);
  op.dst = to.value;
  op.a = reader.source(1, request.type);
  op.c = reader.source(2, Type::b32);
  op.list = reader.list({to.predicate});
  if (!all && op.dst == kNoOperand) reader.fail_with("needs a destination");
  return reader.finish(op);
}

struct ReduceAdd { static u32 of(u32 a, u32 b) { return a + b; } };
struct ReduceAnd { static u32 of(u32 a, u32 b) { return a & b; } };
struct ReduceOr { static u32 of(u32 a, u32 b) { return a | b; } };
struct ReduceXor { static u32 of(u32 a, u32 b) { return a ^ b; } };
template <class T>
struct ReduceMin {
  static u32 of(u32 a, u32 b) { return static_cast<T>(a) < static_cast<T>(b) ? a : b; }
};
template <class T>
struct ReduceMax {
  static u32 of(u32 a, u32 b) { return static_cast<T>(a) > static_cast<T>(b) ? a : b; }
};

template <class Rule>
void reduce_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const u32* const a = warp.row<u32>(op.a);
  u32 left = mask;
  u32 result = a[std::countr_zero(left)];
  for (left &= left - 1; left != 0; left &= left - 1) result = Rule::of(result, a[std::countr_zero(left)]);
  fill(warp, op.dst, result, mask);
}

OpFn reduce_fn(std::string_view what, Type type) {
  const bool with_sign = type == Type::s32, bits = type == Type::b32;
  if (bits && what == "and") return &reduce_row<ReduceAnd>;
  if (bits && what == "or") return &reduce_row<ReduceOr>;
  if (bits && what == "xor") return &reduce_row<ReduceXor>;
  if (bits) return nullptr;
  if (what == "add") return &reduce_row<ReduceAdd>;
  if (what == "min") return with_sign ? &reduce_row<ReduceMin<s32>> : &reduce_row<ReduceMin<u32>>;
  if (what == "max") return with_sign ? &reduce_row<ReduceMax<s32>> : &reduce_row<ReduceMax<u32>>;
  return nullptr;
}

Result<DecodedOp> make_redux(Request& request) {
  if (!request.modifiers.take("sync")) return invalid("only the .sync form is implemented");
  const std::string_view what = request.modifiers.take_one_of({"add", "min", "max", "and", "or", "xor"});
  const OpFn run = reduce_fn(what, request.type);
  if (run == nullptr) return invalid("unknown reduction of type ." + std::string(type_name(request.type)));
  OperandReader reader(request);
  reader.expect(3);
  DecodedOp op = start_collective({run, run});
  op.dst = reader.destination(0, Type::b32);
  op.a = reader.source(1, Type::b32);
  op.c = reader.source(2, Type::b32);
  return reader.finish(op);
}

Result<DecodedOp> make_activemask(Request& request) {
  return make_op(request, {&activemask_row, &activemask_row}, Type::b32, {});
}

void elect_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const u32 leader = static_cast<u32>(std::countr_zero(mask));
  if (op.dst != kNoOperand) fill(warp, op.dst, leader, mask);
  const u32 predicate = warp.operands[op.list];
  if (predicate != kNoOperand) warp.set_predicate(predicate, 1u << leader, mask);
}

constexpr Form kForms[] = {
    {"shfl", {Type::b32}, make_shfl},
    {"vote", {Type::pred, Type::b32}, make_vote},
    {"match", {Type::b32, Type::b64}, make_match},
    {"redux", {Type::b32, Type::u32, Type::s32}, make_redux},
    {"activemask", {Type::b32}, make_activemask},
};

}  // namespace

FormSpan warp_forms() { return kForms; }

Result<DecodedOp> make_elect(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (!modifiers.take("sync")) return invalid("only the .sync form is implemented");
  OperandReader reader(context, instruction);
  reader.expect(2);
  DecodedOp op = start_collective({&elect_row, &elect_row});
  const Destinations to = read_destinations(reader, Type::b32);
  op.dst = to.value;
  op.c = reader.source(1, Type::b32);
  op.list = reader.list({to.predicate});
  return reader.finish(op);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
