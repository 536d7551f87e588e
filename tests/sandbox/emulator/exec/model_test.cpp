#include <gtest/gtest.h>

#include "sandbox/emulator/model/profile.h"
#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

LaunchReport stream(unsigned unroll, unsigned grid, unsigned passes = 1) {
  EmulatedKernel kernel("constexpr unsigned kUnroll = " + std::to_string(unroll) + ", kPasses = " + std::to_string(passes) + R"(;
    extern "C" __global__ void kernel(const uint4* in, unsigned* out, unsigned long long n) {
      unsigned sum = 0;
      for (unsigned pass = 0; pass < kPasses; ++pass)
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256 * kUnroll) {
          uint4 v[kUnroll];
          #pragma unroll
          for (unsigned u = 0; u < kUnroll; ++u) v[u] = __ldcg(in + i + u * gridDim.x * 256);
          #pragma unroll
          for (unsigned u = 0; u < kUnroll; ++u) sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
        }
      out[blockIdx.x * 256 + threadIdx.x] = sum;
    })");
  const std::size_t vectors = 132 * 256 * 8;
  const std::uint64_t in = kernel.buffer(Words(vectors * 4, 1)), out = kernel.buffer(Words(grid * 256));
  const LaunchReport report = kernel.run(grid, 256, {in, out, vectors});
  expect_no_fault(report);
  return report;
}

TEST(Model, CountsEachSectorOfMemoryOnce) {
  const LaunchReport once = stream(1, 132), twice = stream(1, 132, 2);
  EXPECT_EQ(once.total.dram_bytes_read, 132u * 256 * 8 * 16);
  EXPECT_EQ(twice.total.dram_bytes_read, once.total.dram_bytes_read);
  EXPECT_EQ(twice.total.l2_bytes - once.total.l2_bytes, once.total.dram_bytes_read);
  EXPECT_EQ(once.total.dram_bytes_written, 132u * 256 * 4);
}

TEST(Model, RewardsLoadsInFlightAndBusyProcessors) {
  const double one_load = stream(1, 132).total.us;
  EXPECT_LT(stream(4, 132).total.us, one_load);
  EXPECT_GT(stream(1, 33).total.us, one_load);
}

TEST(Model, KnowsThatL1IsNearerThanL2AndForgetsItAtAnAcquire) {
  const auto reread = [](const std::string& between) {
    EmulatedKernel kernel(R"(
      extern "C" __global__ void kernel(const unsigned* in, unsigned* flag, unsigned* out) {
        unsigned sum = 0, seen = 0;
        #pragma unroll 1
        for (int i = 0; i < 100; ++i) { sum += in[(sum & 1) + threadIdx.x]; )" + between + R"( }
        out[threadIdx.x] = sum + seen;
      })");
    const LaunchReport report = kernel.run(1, 32, {kernel.buffer(Words(64)), kernel.buffer(Words(1)), kernel.buffer(Words(32))});
    expect_no_fault(report);
    return report.total;
  };
  const PhaseCounters plain = reread(""), acquiring = reread(R"(asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");)");
  EXPECT_LT(plain.l2_bytes, 20u * 128);
  EXPECT_GT(acquiring.l2_bytes, 100u * 128);
  EXPECT_GT(acquiring.us, plain.us);
}

// Stamps of 8 blocks: after their work, of which block 3 has more, and after all have met.
std::vector<std::uint32_t> clocks_round_a_barrier(LaunchReport& report) {
  EmulatedKernel kernel(R"(
    __device__ unsigned now() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)::"memory"); return unsigned(t); }
    extern "C" __global__ void kernel(unsigned* counter, unsigned* stamps, const unsigned* in) {
      unsigned sum = 0;
      for (int i = 0; i < (blockIdx.x == 3 ? 400 : 100); ++i) sum += in[(sum & 1) + i];
      if (sum == 77) stamps[0] = 1;
      stamps[blockIdx.x * 2] = now();
      atomicAdd(counter, 1);
      unsigned seen;
      do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory"); while (seen < gridDim.x);
      stamps[blockIdx.x * 2 + 1] = now();
    })");
  const std::uint64_t counter = kernel.buffer(Words(1)), stamps = kernel.buffer(Words(16)), in = kernel.buffer(Words(1024));
  report = kernel.run(8, 1, {counter, stamps, in});
  expect_no_fault(report);
  return kernel.words(stamps);
}

TEST(Model, GivesEveryBlockAClockThatShowsItsOwnWorkAndJumpsToTheSlowestAtABarrier) {
  LaunchReport report;
  const std::vector<std::uint32_t> stamps = clocks_round_a_barrier(report);
  for (unsigned block = 0; block < 8; ++block) {
    EXPECT_GT(stamps[block * 2], 0u);
    EXPECT_LE(stamps[block * 2], stamps[3 * 2]);
    EXPECT_GT(stamps[block * 2 + 1], stamps[3 * 2]) << "nobody goes on before the slowest has come";
  }
  EXPECT_GT(stamps[3 * 2], 3 * stamps[4 * 2]);
  double phases_us = 0;
  for (const PhaseCounters& phase : report.phases) phases_us += phase.us;
  EXPECT_LE(stamps[1], 1e3 * phases_us * 1.01);
}

TEST(DeviceProfiles, HaveTheLimitsOfTheirCards) {
  EXPECT_EQ(profile_of_target("sm_90a").name, "H200");
  EXPECT_TRUE(profile_of_target("sm_90a").measured);
  const DeviceProfile blackwell = profile_of_target("sm_120a");
  EXPECT_FALSE(blackwell.measured);
  EXPECT_EQ(blackwell.target, "sm_120a");
  EXPECT_EQ(blackwell.blocks_per_sm, 24);
  EXPECT_EQ(blackwell.shared_per_block, 99u << 10);
  EXPECT_EQ(profile_of_target("sm_100").name, profile_of_target("sm_100a").name);
  EXPECT_TRUE(profile_of_target("sm_89").gpc_sms.empty()) << "no clusters";
  int grouped = 0;
  for (const int sms : blackwell.gpc_sms) grouped += sms;
  EXPECT_LE(grouped, blackwell.sms);
  EXPECT_EQ(profile_of_target("sm_77").sms, h200_profile().sms) << "what is not known is taken for an H200";
}

TEST(Model, NeverBeatsTheMemory) {
  const LaunchReport report = stream(8, 132);
  EXPECT_GE(report.total.us, static_cast<double>(report.total.dram_bytes_read) / 4.71e6);
}

}  // namespace
}  // namespace onelaunch::emu
