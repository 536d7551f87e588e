// prmt: any four bytes of two words.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::OperandReader;
using ops::Request;
using ops::Type;

// The modes, in the order of `extra`. All but the first read the low two bits of the selector.
enum class Mode : u32 { index, f4e, b4e, rc8, ecl, ecr, rc16 };

// Four selector nibbles, as index mode reads them.
inline u32 nibbles(Mode mode, u32 selector) {
  constexpr u32 kTable[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e: four bytes forward from n
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e: four bytes backward from n
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8: byte n everywhere
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl: clamped on the left
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr: clamped on the right
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16: half n & 1 twice
  };
  return mode == Mode::index ? selector : kTable[static_cast<u32>(mode) - 1][selector & 3];
}

inline u32 permute(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 nibble = selector >> (4 * i) & 15;
    const u32 byte = static_cast<u32>(bytes >> (8 * (nibble & 7))) & 255;
    const u32 sign = 0u - (byte >> 7);
    result |= ((nibble & 8 ? sign : byte) & 255u) << (8 * i);
  }
  return result;
}

struct Permute {
  Mode mode;
  explicit Permute(const DecodedOp& op) : mode(static_cast<Mode>(op.extra)) {}
  u32 operator()(u32 a, u32 b, u32 selector) const { return permute(a, b, nibbles(mode, selector)); }
};

// With a constant selector and no sign replication, bytes that move from the same word by the same distance move
// together: a few masked shifts. A step in imm: 16 bits, mask of result bytes (4), source b (1), right (1), bytes (2).
constexpr u32 kStepSourceB = 16, kStepRight = 32;

// Shift counts of vectors are per step, not per lane. The first step writes, the others add.
template <bool first>
inline void permute_step(const u32* from, u32* sum, u32 step) {
  u32 keep = 0;
  for (u32 byte = 0; byte < 4; ++byte) keep |= (step >> byte & 1u) * (0xffu << (8 * byte));
  const u32 by = 8 * (step >> 6 & 3);
  if (step & kStepRight) {
    for (int i = 0; i < kLanes; ++i) sum[i] = (first ? 0u : sum[i]) | (from[i] >> by & keep);
  } else {
    for (int i = 0; i < kLanes; ++i) sum[i] = (first ? 0u : sum[i]) | (from[i] << by & keep);
  }
}

template <bool full>
void permute_steps_row(Warp& warp, const DecodedOp& op, u32 mask) {
  alignas(64) u32 sum[kLanes];
  const u32* const a = warp.row<u32>(op.a);
  const u32* const b = warp.row<u32>(op.b);
  u32 step = op.imm & 0xffff;
  permute_step<true>(step & kStepSourceB ? b : a, sum, step);
  for (u64 steps = op.imm >> 16; steps != 0; steps >>= 16) {
    step = steps & 0xffff;
    permute_step<false>(step & kStepSourceB ? b : a, sum, step);
  }
  u32* const to = warp.row_to_write<u32>(op.dst);
  for (int i = 0; i < kLanes; ++i) put<full>(to, i, sum[i], mask);
}

u64 permute_steps(u32 selector) {
  u32 steps[4] = {}, count = 0;
  for (u32 to = 0; to < 4; ++to) {
    const u32 nibble = selector >> (4 * to) & 7, from = nibble & 3;
    const u32 by = from > to ? from - to : to - from;
    const u32 kind = (nibble & 4 ? kStepSourceB : 0) | (from > to ? kStepRight : 0) | by << 6;
    u32 same = 0;
    while (same < count && (steps[same] & ~15u) != kind) ++same;
    if (same == count) steps[count++] = kind;
    steps[same] |= 1u << to;
  }
  return steps[0] | u64{steps[1]} << 16 | u64{steps[2]} << 32 | u64{steps[3]} << 48;
}

Mode take_mode(Modifiers& modifiers) {
  constexpr std::string_view kNames[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (u32 i = 0; i < 6; ++i)
    if (modifiers.take(kNames[i])) return static_cast<Mode>(i + 1);
  return Mode::index;
}

Result<DecodedOp> make_prmt(Request& request) {
  const Mode mode = take_mode(request.modifiers);
  OperandReader reader(request);
  reader.expect(4);
  const LoweredOperand& selector = reader.operand(3);
  const u32 chosen = nibbles(mode, static_cast<u32>(selector.value));
  const bool fast = selector.constant && (chosen & 0x8888) == 0;
  DecodedOp op = ops::start_op(fast ? OpFns{&permute_steps_row<true>, &permute_steps_row<false>} : fns<Permute>(),
                               CostClass::alu);
  op.dst = reader.destination(0, Type::b32);
  op.a = reader.source(1, Type::b32);
  op.b = reader.source(2, Type::b32);
  if (fast) {
    op.imm = permute_steps(chosen);
  } else {
    op.c = reader.source(3, Type::b32);
    op.extra = static_cast<u32>(mode);
  }
  return reader.finish(op);
}

constexpr Form kForms[] = {{"prmt", {Type::b32}, make_prmt}};

}  // namespace

FormSpan permute_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
