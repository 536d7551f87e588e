#pragma once
// mma.sync: a warp multiplies a 16 x k matrix by a k x 8 one and adds a 16 x 8 one, all spread over its registers.

#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

constexpr int kRows = 16, kColumns = 8;

// DecodedOp::imm of an mma: registers of d, a and b (c has as many as d). Their rows are in the list, in this order.
struct MatrixRegisters {
  u32 d, a, b;
};
inline u64 packed(const MatrixRegisters& n) { return n.d | n.a << 8 | n.b << 16; }
inline MatrixRegisters matrix_registers(const DecodedOp& op) {
  return {static_cast<u32>(op.imm & 255), static_cast<u32>(op.imm >> 8 & 255), static_cast<u32>(op.imm >> 16 & 255)};
}

// Rows of one operand: `first` counts from the start of the list.
struct MatrixOperand {
  const Warp& warp;
  u32 list;
  u32 word(u32 reg, u32 lane) const { return warp.row<u32>(warp.operands[list + reg])[lane]; }
};
inline MatrixOperand operand_a(const Warp& warp, const DecodedOp& op) {
  return {warp, op.list + matrix_registers(op).d};
}
inline MatrixOperand operand_b(const Warp& warp, const DecodedOp& op) {
  return {warp, op.list + matrix_registers(op).d + matrix_registers(op).a};
}
inline MatrixOperand operand_c(const Warp& warp, const DecodedOp& op) {
  const MatrixRegisters n = matrix_registers(op);
  return {warp, op.list + n.d + n.a + n.b};
}

// Element (row, column) of c and d lies in register r of a lane.
inline int accumulator_row(u32 reg, u32 lane) { return static_cast<int>(lane / 4 + 8 * (reg >> 1)); }
inline int accumulator_column(u32 reg, u32 lane) { return static_cast<int>(2 * (lane % 4) + (reg & 1)); }

template <class T>
void write_accumulator(Warp& warp, const DecodedOp& op, const T (&d)[kRows][kColumns]) {
  for (u32 reg = 0; reg < 4; ++reg) {
    u32* const to = warp.row_to_write<u32>(warp.operands[op.list + reg]);
    for (u32 lane = 0; lane < kLanes; ++lane)
      to[lane] = std::bit_cast<u32>(d[accumulator_row(reg, lane)][accumulator_column(reg, lane)]);
  }
}

// All lanes must take part; if not, the launch stops.
bool has_all_lanes(Warp& warp, const DecodedOp& op, u32 mask);

// The row function, nothing when the shape is not implemented. k: columns of a.
OpFn float_mma(ops::Type type, int k);
OpFn integer_mma(bool a_signed, bool b_signed, bool satfinite, int k);

}  // namespace onelaunch::emu::OL_OPS_LEVEL
