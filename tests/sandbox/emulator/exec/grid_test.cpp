#include <gtest/gtest.h>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

// A counter barrier over the whole grid; SKIP is a condition under which a block leaves it out.
std::string with_grid_barrier(const std::string& body, const std::string& skip = "false") {
  return R"(
    __device__ void grid_barrier(unsigned* counter) {
      __syncthreads();
      if (threadIdx.x == 0 && !()" + skip + R"()) {
        unsigned old, now;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");
        const unsigned target = (old / gridDim.x + 1) * gridDim.x;
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory"); while (now < target);
      }
      __syncthreads();
    }
    extern "C" __global__ void kernel(unsigned* counter, unsigned* x, unsigned* y) {)" + body + "}";
}

constexpr const char* kTurns = R"(
      const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
      for (unsigned round = 0; round < 3; ++round) {
        y[i] = x[(i + 37) % n] + round;
        grid_barrier(counter);
        x[i] = y[(i + 11) % n];
        grid_barrier(counter);
      })";

Words turns_by_hand(Words x) {
  const std::size_t n = x.size();
  Words y(n);
  for (unsigned round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < n; ++i) y[i] = x[(i + 37) % n] + round;
    for (std::size_t i = 0; i < n; ++i) x[i] = y[(i + 11) % n];
  }
  return x;
}

Words numbers(std::size_t n) {
  Words words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<std::uint32_t>(i * 7);
  return words;
}

TEST(Grid, PassesValuesFromBlockToBlockAcrossABarrier) {
  EmulatedKernel kernel(with_grid_barrier(kTurns));
  const Words x = numbers(132 * 64);
  const std::uint64_t counter = kernel.buffer(Words(1)), data = kernel.buffer(x), other = kernel.buffer(Words(x.size()));
  expect_no_fault(kernel.run(132, 64, {counter, data, other}));
  EXPECT_EQ(kernel.words(data), turns_by_hand(x));
  EXPECT_EQ(kernel.words(counter)[0], 6u * 132);
}

TEST(Grid, GivesTheSameAnswerUnderEverySchedule) {
  EmulatedKernel kernel(with_grid_barrier(kTurns));
  const Words x = numbers(24 * 64);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::uint64_t counter = kernel.buffer(Words(1)), data = kernel.buffer(x), other = kernel.buffer(Words(x.size()));
    expect_no_fault(kernel.run({.grid = 24, .block = 64}, {counter, data, other}, {.schedule_seed = seed}));
    EXPECT_EQ(kernel.words(data), turns_by_hand(x)) << "seed " << seed;
  }
}

TEST(Grid, ShowsAMissingBarrierBySchedules) {
  std::string racy = kTurns;
  racy.erase(racy.find("grid_barrier(counter);"), 22);
  EmulatedKernel kernel(with_grid_barrier(racy));
  const Words x = numbers(24 * 64);
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::uint64_t counter = kernel.buffer(Words(1)), data = kernel.buffer(x), other = kernel.buffer(Words(x.size()));
    expect_no_fault(kernel.run({.grid = 24, .block = 64}, {counter, data, other}, {.schedule_seed = seed}));
    wrong += kernel.words(data) != turns_by_hand(x);
  }
  EXPECT_GT(wrong, 0);
}

TEST(Grid, RunsTheSameWayTwice) {
  EmulatedKernel kernel(with_grid_barrier(kTurns));
  std::vector<std::uint64_t> instructions;
  for (int time = 0; time < 2; ++time) {
    const LaunchReport report = kernel.run({.grid = 8, .block = 64}, {kernel.buffer(Words(1)), kernel.buffer(Words(512)), kernel.buffer(Words(512))}, {.schedule_seed = 5});
    instructions.push_back(report.total.warp_instructions);
    EXPECT_EQ(report.phases.size(), 7u);
  }
  EXPECT_EQ(instructions[0], instructions[1]);
}

TEST(Grid, SaysWhereEverybodyWaitsWhenOneBlockSkipsTheBarrier) {
  EmulatedKernel kernel(with_grid_barrier(kTurns, "blockIdx.x == 5"));
  const LaunchReport report = kernel.run(16, 64, {kernel.buffer(Words(1), "counter"), kernel.buffer(Words(1024)), kernel.buffer(Words(1024))});
  expect_fault(report, Fault::Kind::deadlock, "polls counter");
  ASSERT_FALSE(report.faults.empty());
  EXPECT_NE(report.faults[0].message.find("kernel.cu:8"), std::string::npos) << report.faults[0].message;
}

TEST(Grid, RunsCooperativeGroupsGridSync) {
  EmulatedKernel kernel(R"(
    #include <cooperative_groups.h>
    extern "C" __global__ void kernel(unsigned* x, unsigned* y) {
      const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
      x[i] = i * 3;
      cooperative_groups::this_grid().sync();
      y[i] = x[n - 1 - i];
      cooperative_groups::this_grid().sync();
      x[i] = y[(i + 64) % n];
    })");
  const std::uint64_t x = kernel.buffer(Words(33 * 64)), y = kernel.buffer(Words(33 * 64));
  expect_no_fault(kernel.run(33, 64, {x, y}));
  const unsigned n = 33 * 64;
  for (unsigned i = 0; i < n; ++i) ASSERT_EQ(kernel.words(x)[i], (n - 1 - (i + 64) % n) * 3) << i;
}

TEST(Grid, RefusesMoreBlocksThanAreResidentWithTheNumbers) {
  EmulatedKernel kernel(with_grid_barrier(kTurns));
  const LaunchReport report = kernel.run({.grid = 133, .block = 1024, .dynamic_shared_bytes = 200000}, {0, 0, 0});
  expect_fault(report, Fault::Kind::not_resident, "133 blocks");
  expect_fault(report, Fault::Kind::not_resident, "132 such blocks");
}

TEST(Grid, RunsMoreBlocksThanFitWhenTheLaunchIsNotCooperative) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* out) { if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.x + 1; }");
  const std::uint64_t out = kernel.buffer(Words(1000));
  expect_no_fault(kernel.run({.grid = 1000, .block = 1024}, {out}, {.cooperative = false}));
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(kernel.words(out)[i], i + 1);
}

TEST(Grid, DoesNotTakeABoundedLoopOverAPolledWordForADeadlock) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(volatile unsigned* word, unsigned* out) {
      unsigned sum = 0;
      #pragma unroll 1
      for (unsigned i = 0; i < 10; ++i) sum += *word;
      out[0] = sum;
    })");
  const std::uint64_t out = kernel.buffer(Words(1));
  expect_no_fault(kernel.run(1, 1, {kernel.buffer(Words(1, 4)), out}));
  EXPECT_EQ(kernel.words(out)[0], 40u);
}

TEST(Grid, StopsAKernelThatNeverReturns) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* out) { unsigned x = 1; for (;;) { x = x * 3 + 1; if (x == 0) break; } out[0] = x; }");
  const LaunchReport report = kernel.run({.grid = 1, .block = 32}, {kernel.buffer(Words(1))}, {.instructions_max = 1000000});
  expect_fault(report, Fault::Kind::instruction_limit, "warp instructions");
}

TEST(Grid, StopsATrapAndSaysWhere) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel() {\n  if (threadIdx.x == 7) __trap();\n}");
  expect_fault(kernel.run(1, 32, {0}), Fault::Kind::trap, "lane 7");
}

}  // namespace
}  // namespace onelaunch::emu
