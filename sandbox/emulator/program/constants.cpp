#include "sandbox/emulator/program/constants.h"

#include <cstring>

namespace onelaunch::emu {

template <class T>
std::uint32_t ProgramBuilding::add_row(T value, int lanes) {
  constexpr std::size_t kAlignment = 64;
  std::vector<std::byte>& bytes = program_.constants;
  const std::size_t offset = bytes.size();
  const std::size_t size = sizeof(T) * static_cast<std::size_t>(lanes);
  bytes.resize(offset + (size + kAlignment - 1) / kAlignment * kAlignment);
  for (int lane = 0; lane < lanes; ++lane) {
    std::memcpy(bytes.data() + offset + sizeof(T) * static_cast<std::size_t>(lane), &value, sizeof(T));
  }
  return static_cast<std::uint32_t>(offset) | kConstantBit;
}

std::uint32_t ProgramBuilding::constant32(std::uint32_t value) {
  const auto [row, fresh] = rows32_.try_emplace(value);
  if (fresh) row->second = add_row(value, 32);
  return row->second;
}

std::uint32_t ProgramBuilding::constant64(std::uint64_t value) {
  const auto [row, fresh] = rows64_.try_emplace(value);
  if (fresh) row->second = add_row(value, 32);
  return row->second;
}

std::uint32_t ProgramBuilding::constant_predicate(bool value) {
  std::uint32_t& row = predicates_[value ? 1 : 0];
  if (row == kNoOperand) row = add_row(value ? 0xffffffffu : 0u, 1);
  return row;
}

std::uint32_t ProgramBuilding::add_list(std::span<const std::uint32_t> operands) {
  const auto first = static_cast<std::uint32_t>(program_.operands.size());
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  return first;
}

}  // namespace onelaunch::emu
