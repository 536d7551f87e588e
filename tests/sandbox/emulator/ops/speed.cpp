// Prints what one full and one masked row costs, by instruction and vector level. Not a test: times vary.

#include <chrono>
#include <cstdio>
#include <vector>

#include "sandbox/emulator/exec/warp.h"
#include "tests/sandbox/emulator/ops/operand_words.h"

namespace onelaunch::emu::bench {
namespace {

double nanoseconds(Bench& bench, const WarpWords& sources, RunOptions options, int repeat) {
  options.repeat = 1;
  bench.run(sources, options);
  options.repeat = repeat;
  const auto start = std::chrono::steady_clock::now();
  bench.run(sources, options);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / repeat;
}

// Numbers near one in every format: nothing that the host's processor handles slowly.
WarpWords tame_words(const Instruction& instruction) {
  WarpWords words = warp_of(operand_words(instruction), 224);
  for (auto& lanes : words)
    for (std::uint64_t& word : lanes) word = (word & 0x83ff83ff) | 0x3c003c00 | (word & 0x83ff83ff) << 32 | std::uint64_t{0x3c00} << 48;
  return words;
}

const char* const kInstructions[] = {
    "and.b32 $w, $w, $w", "add.s32 $w, $w, $w", "mad.lo.s32 $w, $w, $w, $w", "mul.wide.u32 $d, $w, $w",
    "add.s64 $d, $d, $d", "shl.b32 $w, $w, 4", "shr.u32 $w, $w, $w", "shf.l.wrap.b32 $w, $w, $w, $w",
    "lop3.b32 $w, $w, $w, $w, 234", "lop3.b32 $w, $w, $w, $w, 53", "prmt.b32 $w, $w, $w, 21520",
    "prmt.b32 $w, $w, $w, 16704", "prmt.b32 $w, $w, $w, $w", "bfe.u32 $w, $w, $w, $w", "dp2a.lo.s32.s32 $w, $w, $w, $w",
    "dp4a.s32.s32 $w, $w, $w, $w", "add.f32 $w, $w, $w", "mul.rn.f32 $w, $w, $w", "fma.rn.f32 $w, $w, $w, $w",
    "fma.rn.ftz.f32 $w, $w, $w, $w", "fma.rm.f32 $w, $w, $w, $w", "max.f32 $w, $w, $w", "ex2.approx.ftz.f32 $w, $w",
    "lg2.approx.f32 $w, $w", "rcp.approx.ftz.f32 $w, $w", "rsqrt.approx.f32 $w, $w", "div.rn.f32 $w, $w, $w",
    "tanh.approx.f32 $w, $w", "sub.bf16x2 $w, $w, $w", "mul.bf16x2 $w, $w, $w", "fma.rn.bf16x2 $w, $w, $w, $w",
    "max.bf16x2 $w, $w, $w", "mul.f16x2 $w, $w, $w", "fma.rn.f16x2 $w, $w, $w, $w", "cvt.rn.bf16x2.f32 $w, $w, $w",
    "cvt.rn.bf16.f32 $h, $w", "cvt.f32.bf16 $w, $h", "cvt.f32.f16 $w, $h", "cvt.rn.f16x2.f32 $w, $w, $w",
    "cvt.rn.f32.s32 $w, $w", "cvt.rn.f32.u32 $w, $w", "cvt.rzi.s32.f32 $w, $w", "cvt.u64.u32 $d, $w", "cvt.s32.s8 $w, $w",
    "setp.lt.s32 $p, $w, $w", "setp.gtu.f32 $p, $w, $w", "setp.eq.u64 $p, $d, $d", "selp.b32 $w, $w, $w, $p",
    "and.pred $p, $p, $p", "mov.b32 $w, $w", "mov.b64 {$w, $w}, $d", "mov.b32 $w, {$h, $h}",
    "shfl.sync.bfly.b32 $w|$p, $w, 16, 31, -1", "redux.sync.add.s32 $w, $w, -1",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$w, $w, $w, $w}, {$w, $w, $w, $w}, {$w, $w}, {$w, $w, $w, $w}",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$w, $w, $w, $w}, {$w, $w, $w, $w}, {$w, $w}, {$w, $w, $w, $w}",
};

}  // namespace
}  // namespace onelaunch::emu::bench

int main() {
  using namespace onelaunch::emu::bench;
  std::printf("%-52s %10s %10s   (ns, portable then avx2: full/masked)\n", "", "", "");
  for (const char* const text : kInstructions) {
    const Instruction instruction(text);
    const WarpWords sources = tame_words(instruction);
    std::printf("%-52.52s", text);
    for (const auto level : levels()) {
      Bench bench(instruction);
      const double full = nanoseconds(bench, sources, {.level = level}, 200000);
      const double masked = nanoseconds(bench, sources, {.level = level, .mask = 0x7fffffff}, 200000);
      std::printf(" %8.1f/%-8.1f", full, masked);
    }
    std::printf("\n");
  }
  return 0;
}
