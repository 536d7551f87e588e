// How blocks of a megakernel pass vectors to one another: sums by reductions behind a counter, and words that carry
// their own flag.
#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/check/checked_kernel.h"

namespace onelaunch::emu {
namespace {

// Four buffers in turn; each block clears its share of the one that comes `ahead` exchanges later while thread 0 polls.
// A warp apart streams tiles through one slot all the while.
std::string all_reduce(const std::string& ahead, const std::string& release = "release", const std::string& acquire = "acquire") {
  return kDeviceCode + R"(
    __device__ void meet() { asm volatile("bar.sync 1, 96;" ::: "memory"); }
    extern "C" __global__ void kernel(u32* counter, float* sums, u32* out) {
      __shared__ alignas(128) u32 slot[64];
      __shared__ u64 full, empty;
      const u32 t = threadIdx.x;
      if (t == 0) { init(&full, 1); init(&empty, 3); fence_init(); }
      __syncthreads();
      if (t >= 96) {
        if (t == 96) for (u32 e = 0; e < 8; ++e) {
          if (e) wait(&empty, (e - 1) & 1);
          expect(&full, 256); load(slot, out + 4096 + e * 64, 256, &full);
        }
        return;
      }
      for (u32 e = 0; e < 8; ++e) {
        float* const sum = sums + e % 4 * 64;
        float* const later = sums + (e + )" + ahead + R"() % 4 * 64;
        wait(&full, e & 1);
        const float v = t + e + slot[t % 64];
        __syncwarp();
        if (t % 32 == 0) arrive(&empty);
        if (t < 16) asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(sum + t * 4), "f"(v) : "memory");
        meet();
        if (t == 0) {
          asm volatile("red.)" + release + R"(.gpu.global.add.u32 [%0], 1;" :: "l"(counter) : "memory");
          u32 now;
          do asm volatile("ld.)" + acquire + R"(.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory"); while (now < (e + 1) * gridDim.x);
        } else if (t > 32 && (t - 33) % gridDim.x == blockIdx.x) later[t - 33] = 0;
        meet();
        if (t < 64) out[(e * gridDim.x + blockIdx.x) * 64 + t] = (u32)__ldcg(sum + t);
        meet();
      }
    })";
}

TEST(Exchanges, OfSumsBehindACounterAreClean) { expect_verdict(Verdict::clean, all_reduce("2"), {.grid = 6, .block = 128}, 8192); }

TEST(Exchanges, ThatClearABufferTooEarlyOrSkipAnOrderRace) {
  const LaunchShape shape{.grid = 6, .block = 128};
  expect_verdict(Verdict::race, all_reduce("1"), shape, 8192, "cleared while others add already");
  expect_verdict(Verdict::race, all_reduce("3"), shape, 8192, "cleared while others read still");
  expect_verdict(Verdict::race, all_reduce("2", "relaxed"), shape, 8192, "no release");
  expect_verdict(Verdict::race, all_reduce("2", "release", "relaxed"), shape, 8192, "no acquire");
}

std::string flagged(const std::string& store, const std::string& load) {
  return R"(
    extern "C" __global__ void kernel(unsigned* words, unsigned* other, unsigned* out) {
      const unsigned t = threadIdx.x, next = (blockIdx.x + 1) % gridDim.x;
      for (unsigned e = 1; e < 5; ++e) {
        unsigned* const mine = words + (e % 2 * gridDim.x + blockIdx.x) * 128 + t * 4;
        unsigned* const theirs = words + (e % 2 * gridDim.x + next) * 128 + t * 4;
        unsigned a, b, c, seen;
        asm volatile(")" + store + R"( [%0], {%1, %2, %3, %3};" :: "l"(mine), "r"(t), "r"(e * 10), "r"(e) : "memory");
        do asm volatile(")" + load + R"( {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(seen) : "l"(theirs) : "memory"); while (seen < e);
        out[(e * gridDim.x + blockIdx.x) * 32 + t] = a + b + c;
      }
    })";
}

TEST(Exchanges, OfWordsThatCarryTheirFlagAreCleanWhenBothSidesAreStrong) {
  const LaunchShape shape{.grid = 5, .block = 32};
  expect_verdict(Verdict::clean, flagged("st.relaxed.gpu.global.v4.u32", "ld.relaxed.gpu.global.v4.u32"), shape, 2048);
  expect_verdict(Verdict::clean, flagged("st.volatile.global.v4.u32", "ld.volatile.global.v4.u32"), shape, 2048);
  expect_verdict(Verdict::race, flagged("st.global.v4.u32", "ld.relaxed.gpu.global.v4.u32"), shape, 2048, "weak stores");
  expect_verdict(Verdict::race, flagged("st.relaxed.gpu.global.v4.u32", "ld.global.v4.u32"), shape, 2048, "weak loads");
}

}  // namespace
}  // namespace onelaunch::emu
