#pragma once
// What an operation sees while it runs: one warp's registers and the way to its block, grid and memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

struct Block;      // exec/block.h: shared memory, barriers, coordinates
struct Grid;       // exec/grid.h: program, memory, faults, counters
struct PollLog;    // exec/polls.h: what the running lanes polled since their last effect
struct BlockPhase; // model/counters.h

struct Warp {
  std::byte* registers = nullptr;        // Layout::bytes, 64-byte aligned
  const std::byte* constants = nullptr;  // the program's constant rows, 64-byte aligned
  std::byte* local = nullptr;            // local memory, words interleaved [word][lane]
  const std::uint32_t* operands = nullptr;  // Program::operands
  Block* block = nullptr;
  Grid* grid = nullptr;
  std::uint32_t index = 0;               // within the block
  std::uint32_t live = 0;                // lanes that exist and have not exited

  // Kept by memory operations and the run loop.
  BlockPhase* work = nullptr;            // counters of this block in this warp's phase
  PollLog* polls = nullptr;              // of the lanes that run
  std::uint32_t phase = 0;               // number of grid-wide waits that this warp's work depends on
  std::uint32_t effects = 0;             // stores, changing atomics, barrier arrivals; counts up
  bool waited_since_effect = false;      // the phase has been advanced by a poll since the last effect
  bool gathered = false;                 // an atomic met another block's work of this phase
  double chain_cycles = 0;               // modelled length of the dependent chain since the last block barrier

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
void report_fault(Warp& warp, const DecodedOp& op, std::uint32_t lanes, const std::string& what);

// trap: the launch stops after it.
void report_trap(Warp& warp, const DecodedOp& op, std::uint32_t lanes);

// Special registers, read by ops/special: value for one lane.
std::uint64_t special_register(const Warp& warp, std::uint32_t which, std::uint32_t lane);
// Number of a special register by its PTX name ("%tid.x"); fails naming it when unknown.
Result<std::uint32_t> special_register_number(std::string_view name);

}  // namespace onelaunch::emu
