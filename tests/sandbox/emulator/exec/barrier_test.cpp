#include <gtest/gtest.h>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

TEST(Barriers, SumABlockThroughSharedMemory) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(const unsigned* in, unsigned* out) {
      __shared__ unsigned part[256];
      part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
      for (unsigned n = 128; n > 0; n /= 2) { __syncthreads(); if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n]; }
      if (threadIdx.x == 0) out[blockIdx.x] = part[0];
    })");
  Words in(512);
  for (unsigned i = 0; i < 512; ++i) in[i] = i * i;
  const std::uint64_t out = kernel.buffer(Words(2));
  expect_no_fault(kernel.run(2, 256, {kernel.buffer(in), out}));
  unsigned sums[2] = {};
  for (unsigned i = 0; i < 512; ++i) sums[i / 256] += i * i;
  EXPECT_EQ(kernel.words(out), (Words{sums[0], sums[1]}));
}

TEST(Barriers, CountAndCombinePredicates) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* out) {
      const bool odd = threadIdx.x % 2;
      const unsigned count = __syncthreads_count(odd), all = __syncthreads_and(threadIdx.x < 96), any = __syncthreads_or(threadIdx.x == 64);
      if (threadIdx.x == 95) out[0] = count, out[1] = all, out[2] = any;
      const unsigned none = __syncthreads_or(threadIdx.x > 100), some = __syncthreads_and(odd);
      if (threadIdx.x == 1) out[3] = none, out[4] = some;
    })");
  const std::uint64_t out = kernel.buffer(Words(5, 9));
  expect_no_fault(kernel.run(1, 96, {out}));
  EXPECT_EQ(kernel.words(out), (Words{48, 1, 1, 0, 0}));
}

constexpr const char* kProducerConsumer = R"(
    extern "C" __global__ void kernel(unsigned* out) {
      __shared__ unsigned slot;
      const unsigned warp = threadIdx.x / 32;
      for (unsigned i = 0; i < 4; ++i) {
        if (warp == 0) { if (threadIdx.x == 0) slot = i + 10; asm volatile("bar.arrive 1, 64;" ::: "memory"); asm volatile("bar.sync 2, 64;" ::: "memory"); }
        else { asm volatile("bar.sync 1, 64;" ::: "memory"); out[i * 32 + threadIdx.x - 32] = slot; asm volatile("bar.arrive 2, 64;" ::: "memory"); }
      }
    })";

TEST(Barriers, LetAProducerWarpArriveWithoutWaiting) {
  EmulatedKernel kernel(kProducerConsumer);
  const std::uint64_t out = kernel.buffer(Words(128));
  expect_no_fault(kernel.run(1, 64, {out}));
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(kernel.words(out)[i], i / 32 + 10);
}

TEST(Barriers, DoNotWaitForThreadsThatHaveEnded) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* out) {
      if (threadIdx.x >= 64) return;
      __syncthreads();
      out[threadIdx.x] = 1;
    })");
  const std::uint64_t out = kernel.buffer(Words(64));
  expect_no_fault(kernel.run(1, 128, {out}));
  EXPECT_EQ(kernel.words(out), Words(64, 1));
}

TEST(Barriers, ReportAWarpWhoseLanesWentToDifferentOnes) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* out) {
      if (threadIdx.x < 16) { asm volatile("bar.sync 0;" ::: "memory"); out[0] = 1; }
      else { out[1] = 2; asm volatile("bar.sync 0;" ::: "memory"); out[2] = 3; }
    })");
  expect_fault(kernel.run(1, 32, {kernel.buffer(Words(4))}), Fault::Kind::divergent_barrier, "aligned barrier");
}

TEST(Barriers, SayWhoIsMissingWhenOneIsNeverComplete) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* out) {
      if (threadIdx.x < 64) asm volatile("bar.sync 3, 96;" ::: "memory");
      out[threadIdx.x] = 1;
    })");
  const LaunchReport report = kernel.run(1, 96, {kernel.buffer(Words(96))});
  expect_fault(report, Fault::Kind::deadlock, "64 of 96 threads arrived");
  ASSERT_FALSE(report.faults.empty());
  EXPECT_NE(report.faults[0].message.find("kernel.cu:3"), std::string::npos) << report.faults[0].message;
}

TEST(Barriers, RefuseACountThatIsNoMultipleOfAWarp) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned n) { asm volatile(\"bar.sync 1, %0;\" :: \"r\"(n) : \"memory\"); }");
  expect_fault(kernel.run(1, 64, {40}), Fault::Kind::misuse, "not a multiple of 32");
}

}  // namespace
}  // namespace onelaunch::emu
