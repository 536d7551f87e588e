#pragma once
// Addresses of an operation with several of them: four words each in its operand list.

#include <cstdint>
#include <span>
#include <vector>

#include "sandbox/emulator/exec/warp.h"
#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu {

constexpr std::uint32_t kAddressWords = 4;  // row, offset low and high, whether the row has 64 bits

inline void add_address(DecodeContext& context, const LoweredOperand& operand, std::vector<std::uint32_t>& list) {
  auto offset = static_cast<std::uint64_t>(operand.address_offset);
  std::uint32_t row = operand.offset;
  bool wide = operand.kind == LoweredOperand::Kind::row64;
  if (operand.constant) row = context.constant64(operand.value + offset), offset = 0, wide = true;
  list.insert(list.end(), {row, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32), wide ? 1u : 0u});
}

// Address number `index` of the list for one lane.
inline std::uint64_t listed_address(const Warp& warp, const DecodedOp& op, std::uint32_t index, unsigned lane) {
  const std::uint32_t* const words = warp.operands + op.list + index * kAddressWords;
  const std::uint64_t offset = words[1] | std::uint64_t{words[2]} << 32;
  if (words[3]) return warp.row<std::uint64_t>(words[0])[lane] + offset;
  return static_cast<std::uint32_t>(warp.row<std::uint32_t>(words[0])[lane] + offset);
}

}  // namespace onelaunch::emu
