// Producer and consumers over a ring of slots, as the streaming kernels are built.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

// 4 slots of 2 KB, one producer warp, two consumer warps; PRODUCER_WAIT and CONSUMER_WAIT may be spoilt.
std::string ring(const std::string& producer_wait, const std::string& consumer_wait, const std::string& release = "arrive(empty + slot);") {
  return kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in, u32* out, u64 tiles) {
      __shared__ alignas(128) u32 slots[4][512];
      __shared__ u64 full[4], empty[4];
      const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      if (threadIdx.x == 0) { for (int i = 0; i < 4; ++i) { init(full + i, 1); init(empty + i, 2); } fence_init(); }
      __syncthreads();
      const u32* const mine = in + blockIdx.x * tiles * 512;
      if (warp == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        u32 leader;
        asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(leader));
        if (leader) for (u32 i = 0; i < tiles; ++i) {
          const u32 slot = i % 4, turn = i / 4;
          if (turn > 0) )" + producer_wait + R"(
          expect(full + slot, 2048);
          load(slots[slot], mine + i * 512, 2048, full + slot);
        }
      } else {
        u32 sum = 0;
        for (u32 i = 0; i < tiles; ++i) {
          const u32 slot = i % 4, turn = i / 4;
          )" + consumer_wait + R"(
          for (u32 k = warp * 32 + lane; k < 512; k += 64) sum += slots[slot][k] * (i + 1);
          __syncwarp();
          if (lane == 0) )" + release + R"(
        }
        out[blockIdx.x * 64 + threadIdx.x] = sum;
      }
    })";
}

constexpr const char *kProducerWait = "wait(empty + slot, (turn - 1) & 1);", *kConsumerWait = "wait(full + slot, turn & 1);";

Words noise(std::size_t n) {
  Words words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<std::uint32_t>(i * 0x9e3779b9u);
  return words;
}

Words sums(const Words& in, unsigned blocks, unsigned tiles) {
  Words out(blocks * 64);
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned i = 0; i < tiles; ++i)
      for (unsigned k = 0; k < 512; ++k) out[b * 64 + k % 64] += in[(b * tiles + i) * 512 + k] * (i + 1);
  return out;
}

TEST(Ring, StreamsTilesThroughSlotsUnderEverySchedule) {
  EmulatedKernel kernel(ring(kProducerWait, kConsumerWait));
  const unsigned tiles = 37;
  const Words in = noise(3 * tiles * 512);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::uint64_t out = kernel.buffer(Words(3 * 64));
    expect_no_fault(kernel.run({.grid = 3, .block = 96}, {kernel.buffer(in), out, tiles}, {.schedule_seed = seed}));
    EXPECT_EQ(kernel.words(out), sums(in, 3, tiles)) << "seed " << seed;
  }
}

TEST(Ring, GivesWrongSumsWhenAWaitIsMissing) {
  const unsigned tiles = 37;
  const Words in = noise(tiles * 512);
  const std::pair<const char*, const char*> spoilt[] = {{kProducerWait, "if (i < 0) wait(full, 0);"}, {";", kConsumerWait}};
  for (const auto& [producer, consumer] : spoilt) {
    EmulatedKernel kernel(ring(producer, consumer));
    int bad = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const std::uint64_t out = kernel.buffer(Words(64));
      const LaunchReport report = kernel.run({.grid = 1, .block = 96}, {kernel.buffer(in), out, tiles}, {.schedule_seed = seed});
      bad += !report.faults.empty() || kernel.words(out) != sums(in, 1, tiles);
    }
    EXPECT_GE(bad, 9) << producer << consumer;
  }
}

TEST(Ring, ExplainsADeadlockOfASlotThatNobodyReleases) {
  EmulatedKernel kernel(ring(kProducerWait, kConsumerWait, "if (i < 0) arrive(empty + slot);"));
  const LaunchReport report = kernel.run({.grid = 1, .block = 96}, {kernel.buffer(Words(37 * 512)), kernel.buffer(Words(64)), 37});
  expect_fault(report, Fault::Kind::deadlock, "waits for the end of phase 0 of mbarrier at shared byte");
  expect_fault(report, Fault::Kind::deadlock, "lacks 2 of 2 arrivals");
  expect_fault(report, Fault::Kind::deadlock, "lacks 1 of 1 arrivals");
}

}  // namespace
}  // namespace onelaunch::emu
