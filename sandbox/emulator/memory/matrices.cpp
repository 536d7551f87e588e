// ldmatrix and stmatrix: 8x8 matrices of 16-bit elements between shared memory and the registers of a warp. Lanes
// 8m to 8m+7 give the row addresses of matrix m; lane l holds of each matrix row l/4, elements 2(l%4) and 2(l%4)+1,
// or with .trans column l/4, rows 2(l%4) and 2(l%4)+1.
#include <cstring>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/modifiers.h"
#include "sandbox/emulator/memory/rows.h"

namespace onelaunch::emu {
namespace {

constexpr unsigned kRowBytes = 16;
using Matrix = std::uint16_t[8][8];

bool transposes(const DecodedOp& op) { return (op.extra >> kFormBits & 1) != 0; }
unsigned count_of(const DecodedOp& op) { return op.extra >> (kFormBits + 1); }

std::uint32_t reg(const Warp& warp, const DecodedOp& op, unsigned m) { return warp.operands[op.list + m]; }

bool whole_warp(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  if (mask == warp.live) return true;
  report_fault(warp, op, mask, "only part of the warp executes a matrix access");
  return false;
}

std::byte* row_of(Warp& warp, const DecodedOp& op, unsigned lane, Access access) {
  const AccessForm form = AccessForm::unpack(op.extra);
  return place_of(warp, op, form.space, lane_address(warp, op, form, lane), kRowBytes, lane, access).data;
}

void load_matrices(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  if (!whole_warp(warp, op, mask)) return;
  Matrix matrices[4];
  for (unsigned lane = 0; lane < count_of(op) * 8; ++lane) {
    const std::byte* const row = row_of(warp, op, lane, Access::read);
    if (row) std::memcpy(matrices[lane / 8][lane % 8], row, kRowBytes);
    else std::memset(matrices[lane / 8][lane % 8], 0xff, kRowBytes);
  }
  for (unsigned m = 0; m < count_of(op); ++m) {
    std::uint32_t* const to = warp.row_to_write<std::uint32_t>(reg(warp, op, m));
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned row = lane / 4, pair = lane % 4 * 2;
      const std::uint32_t low = transposes(op) ? matrices[m][pair][row] : matrices[m][row][pair];
      const std::uint32_t high = transposes(op) ? matrices[m][pair + 1][row] : matrices[m][row][pair + 1];
      to[lane] = low | high << 16;
    }
  }
  warp.work->shared_wavefronts += count_of(op);
}

void store_matrices(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  if (!whole_warp(warp, op, mask)) return;
  Matrix matrices[4];
  for (unsigned m = 0; m < count_of(op); ++m) {
    const std::uint32_t* const from = warp.row<std::uint32_t>(reg(warp, op, m));
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned row = lane / 4, pair = lane % 4 * 2;
      (transposes(op) ? matrices[m][pair][row] : matrices[m][row][pair]) = static_cast<std::uint16_t>(from[lane]);
      (transposes(op) ? matrices[m][pair + 1][row] : matrices[m][row][pair + 1]) = static_cast<std::uint16_t>(from[lane] >> 16);
    }
  }
  for (unsigned lane = 0; lane < count_of(op) * 8; ++lane) {
    std::byte* const row = row_of(warp, op, lane, Access::write);
    if (!row) continue;
    std::memcpy(row, matrices[lane / 8][lane % 8], kRowBytes);
    note_written(warp, reinterpret_cast<std::uint64_t>(row), kRowBytes);
  }
  note_effect(warp);
  warp.work->shared_wavefronts += count_of(op);
}

Result<DecodedOp> decode_matrices(DecodeContext& context, const LoweredOperand& registers, const LoweredOperand& address,
                                  Modifiers& modifiers, OpFn run) {
  modifiers.take("sync");
  modifiers.take("aligned");
  if (!modifiers.take("m8n8")) return invalid("only .m8n8 is implemented");
  const std::string_view count = modifiers.take_one_of({"x1", "x2", "x4"});
  if (count.empty()) return invalid("expects .x1, .x2 or .x4");
  const bool transposed = modifiers.take("trans");
  AccessForm form;
  form.space = take_space(modifiers);
  modifiers.take("b16");
  std::vector<std::uint32_t> rows;
  if (registers.kind == LoweredOperand::Kind::vector) for (const LoweredOperand& element : registers.elements) rows.push_back(value_row(context, element, false));
  else rows.push_back(value_row(context, registers, false));
  if (rows.size() != static_cast<std::size_t>(count[1] - '0')) return invalid("has a vector of the wrong size");
  DecodedOp op;
  set_address(context, address, form, op);
  op.list = context.add_list(rows);
  op.extra = form.pack() | std::uint32_t{transposed} << kFormBits | static_cast<std::uint32_t>(rows.size()) << (kFormBits + 1);
  op.bytes = kRowBytes;
  op.cost = CostClass::load_store;
  op.full = op.masked = run;
  return op;
}

}  // namespace

Result<DecodedOp> decode_ldmatrix(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 2) return invalid("expects registers and an address");
  return decode_matrices(context, instruction.operands[0], instruction.operands[1], modifiers, &load_matrices);
}

Result<DecodedOp> decode_stmatrix(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  if (instruction.operands.size() != 2) return invalid("expects an address and registers");
  return decode_matrices(context, instruction.operands[1], instruction.operands[0], modifiers, &store_matrices);
}

}  // namespace onelaunch::emu
