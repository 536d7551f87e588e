#pragma once
// What an operation sees while it runs: one warp's registers and the way to its block, grid and memory.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

struct Block;    // exec/block.h: shared memory, barriers, coordinates
struct Grid;     // exec/launch.h: program, memory, faults, counters

struct Warp {
  std::byte* registers = nullptr;        // Layout::bytes, 64-byte aligned
  const std::byte* constants = nullptr;  // the program's constant rows, 64-byte aligned
  std::byte* local = nullptr;            // local memory, words interleaved [word][lane]
  const std::uint32_t* operands = nullptr;  // Program::operands
  Block* block = nullptr;
  Grid* grid = nullptr;
  std::uint32_t index = 0;               // within the block
  std::uint32_t live = 0;                // lanes that exist and have not exited

  const std::byte* at(std::uint32_t operand) const {
    return operand & kConstantBit ? constants + (operand & ~kConstantBit) : registers + operand;
  }
  template <class T>
  const T* row(std::uint32_t operand) const { return reinterpret_cast<const T*>(at(operand)); }
  template <class T>
  T* row_to_write(std::uint32_t operand) { return reinterpret_cast<T*>(registers + operand); }
  std::uint32_t predicate(std::uint32_t operand) const { return *row<std::uint32_t>(operand); }
  void set_predicate(std::uint32_t operand, std::uint32_t lanes, std::uint32_t mask) {
    std::uint32_t* const word = row_to_write<std::uint32_t>(operand);
    *word = (*word & ~mask) | (lanes & mask);
  }
};

// Reported by an operation that cannot go on (misuse such as a bad membermask); the launch stops after it.
void report_fault(Warp& warp, const DecodedOp& op, std::uint32_t lanes, const char* what);

// Special registers, read by ops/special: value for one lane.
std::uint64_t special_register(const Warp& warp, std::uint32_t which, std::uint32_t lane);
// Number of a special register by its PTX name ("%tid.x"); fails naming it when unknown.
Result<std::uint32_t> special_register_number(std::string_view name);

}  // namespace onelaunch::emu
