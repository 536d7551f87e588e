#pragma once
// Operand words for conformance: edge values in all pairs, then drawn ones. The same everywhere, for ever: recorded
// GPU results belong to them.

#include "tests/sandbox/emulator/ops/bench.h"

namespace onelaunch::emu::bench {

constexpr std::size_t kThreads = 8192;

// [source][thread].
WarpWords operand_words(const Instruction& instruction);
// 32 threads of it.
WarpWords warp_of(const WarpWords& words, std::size_t warp);

}  // namespace onelaunch::emu::bench
