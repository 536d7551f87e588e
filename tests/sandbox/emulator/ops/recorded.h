#pragma once
// Words that an H200 gave for the cases, as one hash per case.

#include <span>
#include <string_view>

#include "tests/sandbox/emulator/ops/bench.h"

namespace onelaunch::emu::bench {

struct Recorded {
  std::string_view instruction;
  std::uint64_t hash;
};

std::span<const Recorded> recorded_words();
std::uint64_t hash_of(const WarpWords& words);  // of all destinations of all threads
// What the emulator gives for the operand words of an instruction; empty when it cannot be decoded.
WarpWords emulated_words(const Instruction& instruction, ops::Level level);

}  // namespace onelaunch::emu::bench
