#include <gtest/gtest.h>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

// Runs one block of 32 threads over a buffer of 64 zeros and returns it.
Words run_warp(const std::string& body, unsigned block = 32) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* out) { const unsigned t = threadIdx.x;\n" + body + "\n}");
  const std::uint64_t out = kernel.buffer(Words(64));
  expect_no_fault(kernel.run(1, block, {out}));
  return kernel.words(out);
}

TEST(Divergence, RunsBothSidesOfABranchAndMeetsAgain) {
  const Words out = run_warp("unsigned v; if (t % 3 == 0) v = t * 2; else v = t + 100; out[t] = v + __popc(__activemask());");
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(out[t], (t % 3 == 0 ? t * 2 : t + 100) + 32) << t;
}

TEST(Divergence, LetsLanesLeaveNestedLoopsOneByOne) {
  const Words out = run_warp(R"(
    unsigned sum = 0;
    for (unsigned i = 0; i <= t; ++i) {
      if (i == 20) break;
      for (unsigned j = 0; j < 5; ++j) { if ((i + j) % 4 == t % 4) continue; sum += i * j; }
    }
    out[t] = sum;)");
  for (unsigned t = 0; t < 32; ++t) {
    unsigned sum = 0;
    for (unsigned i = 0; i <= t && i != 20; ++i)
      for (unsigned j = 0; j < 5; ++j)
        if ((i + j) % 4 != t % 4) sum += i * j;
    EXPECT_EQ(out[t], sum) << t;
  }
}

TEST(Divergence, EndsSomeLanesEarlyAndShufflesAmongTheRest) {
  const Words out = run_warp("if (t >= 20) return; out[t] = __shfl_sync(0xfffffu, t * 10, (t + 1) % 20);");
  for (unsigned t = 0; t < 20; ++t) EXPECT_EQ(out[t], (t + 1) % 20 * 10) << t;
  for (unsigned t = 20; t < 32; ++t) EXPECT_EQ(out[t], 0u) << t;
}

TEST(Divergence, JumpsThroughATable) {
  const Words out = run_warp(R"(
    unsigned v = t;
    switch (t % 8) {
      case 0: v = v * 3 + 1; break; case 1: v ^= 0x55; break; case 2: v = v * v; break; case 3: v = ~v; break;
      case 4: v = v << 3; break; case 5: v = v + 1000; break; case 6: v = 7; break; default: v = __brev(v);
    }
    out[t] = v;)");
  for (unsigned t = 0; t < 32; ++t) {
    unsigned reversed = 0;
    for (unsigned b = 0; b < 32; ++b) reversed |= (t >> b & 1) << (31 - b);
    const unsigned wanted[] = {t * 3 + 1, t ^ 0x55, t * t, ~t, t << 3, t + 1000, 7, reversed};
    EXPECT_EQ(out[t], wanted[t % 8]) << t;
  }
}

TEST(Divergence, LetsOneLaneWaitForAnotherOfItsWarp) {
  const Words out = run_warp(R"(
    volatile unsigned* flag = out + 40;
    if (t == 0) { while (*flag == 0) {} out[0] = *flag; }
    else if (t == 1) *flag = 77;)");
  EXPECT_EQ(out[0], 77u);
}

TEST(Divergence, HandsALockFromLaneToLane) {
  const Words out = run_warp(R"(
    bool done = false;
    while (!done) {
      if (atomicCAS(out + 40, 0u, 1u) == 0u) {
        volatile unsigned* total = out + 41; *total = *total + t + 1; __threadfence(); atomicExch(out + 40, 0u); done = true;
      }
    })");
  EXPECT_EQ(out[41], 32u * 33 / 2);
  EXPECT_EQ(out[40], 0u);
}

TEST(Divergence, ShufflesWithinHalvesThatNameTheirOwnMasks) {
  const Words out = run_warp("const unsigned mask = t < 16 ? 0xffffu : 0xffff0000u; out[t] = __shfl_xor_sync(mask, t + 1, 3);");
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(out[t], (t ^ 3) + 1) << t;
}

TEST(Divergence, GathersLanesThatComeToAVoteFromTwoSides) {
  const Words out = run_warp(R"(
    unsigned v = 0;
    if (t < 10) v = t * 2; else v = t * 3;
    __syncwarp();
    out[t] = __ballot_sync(~0u, v % 2 == 0);)");
  unsigned wanted = 0;
  for (unsigned t = 0; t < 32; ++t) wanted |= unsigned((t < 10 ? t * 2 : t * 3) % 2 == 0) << t;
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(out[t], wanted) << t;
}

TEST(Divergence, ReportsALaneOutsideTheMembermask) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* out) { out[threadIdx.x] = __shfl_sync(0xffu, threadIdx.x, 0); }");
  const LaunchReport report = kernel.run(1, 32, {kernel.buffer(Words(32))});
  expect_fault(report, Fault::Kind::misuse, "membermask");
}

TEST(Divergence, CallsAFunctionThatWasNotInlined) {
  EmulatedKernel kernel(R"(
    __noinline__ __device__ unsigned twice(unsigned v, unsigned* p) { if (v > 100) return v; p[v] += 1; return 2 * v; }
    extern "C" __global__ void kernel(unsigned* out) { out[threadIdx.x] = twice(threadIdx.x, out + 32); })");
  const std::uint64_t out = kernel.buffer(Words(64));
  expect_no_fault(kernel.run(1, 32, {out}));
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(kernel.words(out)[t], 2 * t);
    EXPECT_EQ(kernel.words(out)[32 + t], 1u);
  }
}

}  // namespace
}  // namespace onelaunch::emu
