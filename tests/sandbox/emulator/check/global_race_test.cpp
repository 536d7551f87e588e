// Accesses to global memory by several blocks, with and without what orders them.
#include "tests/sandbox/emulator/check/checked_kernel.h"

namespace onelaunch::emu {
namespace {

const std::string kTypes = "typedef unsigned u32; typedef unsigned long long u64;\n";

std::string message_passing(const std::string& send, const std::string& receive) {
  return kTypes + R"(
    extern "C" __global__ void kernel(u32* data, u32* flag, u32* out) {
      if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x + 1;
        __syncthreads();
        if (threadIdx.x == 0) { )" + send + R"( }
      } else {
        if (threadIdx.x == 0) { u32 seen; )" + receive + R"( }
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
      }
    })";
}
const std::string kRelease = R"(asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory");)";
const std::string kAcquire = R"(do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); while (!seen);)";
const std::string kRelaxedStore = R"(asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory");)";
const std::string kRelaxedLoad = R"(do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); while (!seen);)";
const std::string kVolatileLoad = "while (!*(volatile u32*)flag) {}";

struct Passing {
  const char* name;
  std::string send, receive;
  Verdict verdict;
};
void PrintTo(const Passing& one, std::ostream* out) { *out << one.name; }

class MessagePassing : public testing::TestWithParam<Passing> {};

TEST_P(MessagePassing, IsARaceExactlyWithoutReleaseAndAcquire) {
  expect_verdict(GetParam().verdict, message_passing(GetParam().send, GetParam().receive), {.grid = 3, .block = 64}, 256);
}

INSTANTIATE_TEST_SUITE_P(Races, MessagePassing, testing::Values(
    Passing{"release_acquire", kRelease, kAcquire, Verdict::clean},
    Passing{"fence_relaxed_acquire", "__threadfence();" + kRelaxedStore, kAcquire, Verdict::clean},
    Passing{"release_relaxed_fence", kRelease, kRelaxedLoad + "__threadfence();", Verdict::clean},
    Passing{"fence_volatile_fence", "__threadfence(); *(volatile u32*)flag = 1;", kVolatileLoad + "__threadfence();", Verdict::clean},
    Passing{"atomic_fence_both", "__threadfence(); atomicAdd(flag, 1);", "while (atomicAdd(flag, 0) == 0) {} __threadfence();", Verdict::clean},
    Passing{"red_release", R"(asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(flag) : "memory");)", kAcquire, Verdict::clean},
    Passing{"relaxed_acquire", kRelaxedStore, kAcquire, Verdict::race},
    Passing{"release_relaxed", kRelease, kRelaxedLoad, Verdict::race},
    Passing{"release_volatile", kRelease, kVolatileLoad, Verdict::race},
    Passing{"release_of_the_block_only", R"(asm volatile("st.release.cta.global.u32 [%0], 1;" :: "l"(flag) : "memory");)", kAcquire, Verdict::race},
    Passing{"fence_of_the_block_only", "__threadfence_block();" + kRelaxedStore, kAcquire, Verdict::race},
    Passing{"nothing", kRelease, "seen = 0;", Verdict::race}));

TEST(Races, SayWhoDidWhatWhereAndWhatIsMissing) {
  EmulatedKernel kernel(message_passing(kRelease, kRelaxedLoad));
  const std::uint64_t data = kernel.buffer(std::vector<std::uint32_t>(64), "scratch h"), flag = kernel.buffer({0}), out = kernel.buffer(std::vector<std::uint32_t>(256));
  const LaunchReport report = kernel.run({.grid = 2, .block = 64}, {data, flag, out}, {.checks = kRaces});
  for (const char* const part : {"data race in kernel on ", "scratch h + 0x", "kernel.cu:11", "of block 1 reads what st.", "kernel.cu:5", "of block 0 wrote", "the order rests on a relaxed or volatile load alone"})
    EXPECT_NE(said(report).find(part), std::string::npos) << part << "\n" << said(report);
  EXPECT_FALSE(report.faults.empty() || report.faults[0].where.empty());
}

std::string grid_barrier(const std::string& add, const std::string& poll, const std::string& first_sync = "__syncthreads();", const std::string& second_sync = "__syncthreads();") {
  return kTypes + R"(
    __device__ void barrier(u32* counter) {
      )" + first_sync + R"(
      if (threadIdx.x == 0) {
        u32 old, now;
        )" + add + R"(
        const u32 target = (old / gridDim.x + 1) * gridDim.x;
        do { )" + poll + R"( } while (now < target);
      }
      )" + second_sync + R"(
    }
    extern "C" __global__ void kernel(u32* counter, u32* x, u32* y) {
      const u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
      for (u32 round = 0; round < 3; ++round) {
        y[i] = x[(i + 37) % n] + i + round;
        barrier(counter);
        x[i] = y[(i + 11) % n];
        barrier(counter);
      }
    })";
}
const std::string kAddRelease = R"(asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");)";
const std::string kPollAcquire = R"(asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");)";

TEST(Races, AreNotSeenAcrossGridBarriers) {
  expect_verdict(Verdict::clean, grid_barrier(kAddRelease, kPollAcquire), {.grid = 12, .block = 96}, 12 * 96);
  expect_verdict(Verdict::clean, grid_barrier("__threadfence(); old = atomicAdd(counter, 1);", "now = *(volatile u32*)counter; __threadfence();"), {.grid = 12, .block = 96}, 12 * 96);
  expect_verdict(Verdict::clean, R"(
    #include <cooperative_groups.h>
    extern "C" __global__ void kernel(unsigned* counter, unsigned* x, unsigned* y) {
      const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
      for (unsigned round = 0; round < 3; ++round) {
        y[i] = x[(i + 37) % n] + i; cooperative_groups::this_grid().sync();
        x[i] = y[(i + 11) % n]; cooperative_groups::this_grid().sync();
      }
    })", {.grid = 8, .block = 64}, 8 * 64, "cooperative groups");
}

TEST(Races, AreSeenWhenAGridBarrierLacksAPart) {
  const LaunchShape shape{.grid = 12, .block = 96};
  expect_verdict(Verdict::race, grid_barrier(R"(asm volatile("atom.add.relaxed.gpu.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");)", kPollAcquire), shape, 12 * 96, "no release");
  expect_verdict(Verdict::race, grid_barrier(kAddRelease, R"(asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");)"), shape, 12 * 96, "no acquire");
  expect_verdict(Verdict::race, grid_barrier(kAddRelease, kPollAcquire, "", "__syncthreads();"), shape, 12 * 96, "no first barrier of the block");
  expect_verdict(Verdict::race, grid_barrier(kAddRelease, kPollAcquire, "__syncthreads();", ""), shape, 12 * 96, "no second barrier of the block");
}

TEST(Races, AreNotSeenInReductionsAndEqualStores) {
  expect_verdict(Verdict::clean, kTypes + R"(
    extern "C" __global__ void kernel(float* sum, u32* counter, float* out) {
      const float v = threadIdx.x;
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(sum + threadIdx.x * 4), "f"(v) : "memory");
      atomicAdd(counter + 1, 1u);
      out[500] = 7.0f;
      __syncthreads();
      __shared__ bool last;
      if (threadIdx.x == 0) { __threadfence(); last = atomicAdd(counter, 1u) == gridDim.x - 1; __threadfence(); }
      __syncthreads();
      if (last) for (u32 i = threadIdx.x; i < 128; i += 32) out[i] = sum[i] + out[500];
    })", {.grid = 6, .block = 32}, 512);
}

TEST(Races, BetweenNeighboursInOneWordAreNone) {
  expect_verdict(Verdict::clean, "extern \"C\" __global__ void kernel(unsigned short* a, unsigned char* b, unsigned* c) { a[blockIdx.x] = blockIdx.x + 1; b[blockIdx.x] = blockIdx.x + 3; }", {.grid = 8, .block = 1}, 16);
  expect_verdict(Verdict::race, "extern \"C\" __global__ void kernel(unsigned short* a, unsigned char* b, unsigned* c) { a[blockIdx.x / 2] = blockIdx.x + 1; }", {.grid = 8, .block = 1}, 16);
}

TEST(Races, OfWritesAndOfAnAtomicWithAPlainAccessAreSeen) {
  const LaunchShape shape{.grid = 4, .block = 32};
  expect_verdict(Verdict::race, kTypes + "extern \"C\" __global__ void kernel(u32* a, u32* b, u32* c) { a[threadIdx.x] = blockIdx.x; }", shape, 64);
  expect_verdict(Verdict::race, kTypes + "extern \"C\" __global__ void kernel(u32* a, u32* b, u32* c) { if (blockIdx.x == 3) a[0] = 5; else atomicAdd(a, 1u); }", shape, 64);
  expect_verdict(Verdict::race, kTypes + "extern \"C\" __global__ void kernel(u32* a, u32* b, u32* c) { if (blockIdx.x == 3) b[threadIdx.x] = a[0]; else atomicAdd(a, 1u); }", shape, 64);
}

TEST(Races, OfTheReadOnlyPathAreSeenWhateverTheOrder) {
  expect_verdict(Verdict::race, kTypes + "extern \"C\" __global__ void kernel(u32* a, u32* b, u32* c) { a[threadIdx.x] = threadIdx.x + 1; __syncthreads(); b[threadIdx.x] = __ldg(a + (threadIdx.x ^ 32)); }", {.grid = 1, .block = 64}, 64);
}

TEST(Races, AreNotLookedForUnlessAsked) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* a) { a[0] = blockIdx.x; }");
  expect_no_fault(kernel.run(4, 1, {kernel.buffer({0})}));
}

}  // namespace
}  // namespace onelaunch::emu
