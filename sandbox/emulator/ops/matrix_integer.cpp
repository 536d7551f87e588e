// mma of bytes with 32-bit sums: exact, wrapping around or, with .satfinite, stopping at the ends of the range.

#include "sandbox/emulator/ops/matrix.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

template <bool with_sign>
inline s32 byte_of(u32 word, u32 i) {
  const u32 byte = word >> (8 * i) & 0xffu;
  return with_sign ? static_cast<s32>(static_cast<s8>(byte)) : static_cast<s32>(byte);
}

template <bool satfinite>
inline s32 finished(s64 sum) {
  if constexpr (!satfinite) return static_cast<s32>(sum);
  const s64 low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
  return static_cast<s32>(sum < low ? low : sum > high ? high : sum);
}

template <bool a_signed, bool b_signed, bool satfinite, int depth>
void mma(Warp& warp, const DecodedOp& op, u32 mask) {
  if (!has_all_lanes(warp, op, mask)) return;
  const MatrixOperand from_a = operand_a(warp, op), from_b = operand_b(warp, op), from_c = operand_c(warp, op);
  const MatrixRegisters n = matrix_registers(op);
  alignas(64) s32 a[kRows][depth], b[depth][kColumns], d[kRows][kColumns];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 row = lane / 4, first = 4 * (lane % 4);
    for (u32 reg = 0; reg < n.a; ++reg)
      for (u32 i = 0; i < 4; ++i)
        a[row + 8 * (reg & 1)][first + 16 * (reg >> 1) + i] = byte_of<a_signed>(from_a.word(reg, lane), i);
    for (u32 reg = 0; reg < n.b; ++reg)
      for (u32 i = 0; i < 4; ++i) b[first + 16 * reg + i][row] = byte_of<b_signed>(from_b.word(reg, lane), i);
  }
  for (int row = 0; row < kRows; ++row) {
    s32 sum[kColumns] = {};
    for (int k = 0; k < depth; ++k)
      for (int j = 0; j < kColumns; ++j) sum[j] += a[row][k] * b[k][j];
    for (int j = 0; j < kColumns; ++j) d[row][j] = sum[j];
  }
  for (u32 reg = 0; reg < 4; ++reg)
    for (u32 lane = 0; lane < kLanes; ++lane) {
      s32& sum = d[accumulator_row(reg, lane)][accumulator_column(reg, lane)];
      sum = finished<satfinite>(s64{sum} + static_cast<s32>(from_c.word(reg, lane)));
    }
  write_accumulator(warp, op, d);
}

template <bool a_signed, bool b_signed>
OpFn of_signs(bool satfinite, int k) {
  if (k == 16) return satfinite ? &mma<a_signed, b_signed, true, 16> : &mma<a_signed, b_signed, false, 16>;
  if (k == 32) return satfinite ? &mma<a_signed, b_signed, true, 32> : &mma<a_signed, b_signed, false, 32>;
  return nullptr;
}

}  // namespace

OpFn integer_mma(bool a_signed, bool b_signed, bool satfinite, int k) {
  if (a_signed) return b_signed ? of_signs<true, true>(satfinite, k) : of_signs<true, false>(satfinite, k);
  return b_signed ? of_signs<false, true>(satfinite, k) : of_signs<false, false>(satfinite, k);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
