#pragma once
// The constant rows of a program: each number once, splatted over 32 lanes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sandbox/emulator/program/opcode_table.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// Adds to the program's constants and operand lists.
class ProgramBuilding : public DecodeContext {
 public:
  explicit ProgramBuilding(Program& program) : program_(program) {}

  std::uint32_t constant32(std::uint32_t value) override;
  std::uint32_t constant64(std::uint64_t value) override;
  std::uint32_t constant_predicate(bool value) override;
  std::uint32_t add_list(std::span<const std::uint32_t> operands) override;

 private:
  template <class T>
  std::uint32_t add_row(T value, int lanes);

  Program& program_;
  std::unordered_map<std::uint32_t, std::uint32_t> rows32_;
  std::unordered_map<std::uint64_t, std::uint32_t> rows64_;
  std::uint32_t predicates_[2] = {kNoOperand, kNoOperand};
};

}  // namespace onelaunch::emu
