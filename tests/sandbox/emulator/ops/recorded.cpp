#include "tests/sandbox/emulator/ops/recorded.h"

#include "tests/sandbox/emulator/ops/operand_words.h"

namespace onelaunch::emu::bench {
namespace {

// NVIDIA H200, driver 580.159, ptxas 13.0 for sm_90a.
constexpr Recorded kRecorded[] = {
#include "tests/sandbox/emulator/ops/recorded_words.inc"
    {"", 0},
};

}  // namespace

std::span<const Recorded> recorded_words() { return std::span(kRecorded).first(std::size(kRecorded) - 1); }

std::uint64_t hash_of(const WarpWords& words) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& lanes : words)
    for (const std::uint64_t word : lanes)
      for (int i = 0; i < 64; i += 8) hash = (hash ^ (word >> i & 255)) * 0x100000001b3;
  return hash;
}

WarpWords emulated_words(const Instruction& instruction, ops::Level level) {
  const WarpWords words = operand_words(instruction);
  WarpWords result(instruction.destinations());
  Bench bench(instruction);
  for (std::size_t warp = 0; warp < kThreads / 32; ++warp) {
    const WarpWords out = bench.run(warp_of(words, warp), {.level = level});
    if (out.empty()) return {};
    for (std::size_t d = 0; d < out.size(); ++d) result[d].insert(result[d].end(), out[d].begin(), out[d].end());
  }
  return result;
}

}  // namespace onelaunch::emu::bench
