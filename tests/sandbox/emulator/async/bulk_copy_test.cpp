#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

Words counted(std::size_t n, std::uint32_t factor = 7) {
  Words words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<std::uint32_t>(i) * factor;
  return words;
}

// There and back through shared memory, under the plain schedule and several drawn ones, where copies land late.
TEST(BulkCopies, GoToSharedMemoryAndBack) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in, u32* out) {
      __shared__ alignas(128) u32 s[1024];
      __shared__ u64 bar;
      if (threadIdx.x == 0) { init(&bar, 1); fence_init(); expect(&bar, 4096); load(s, in + blockIdx.x * 1024, 4096, &bar); }
      __syncthreads();
      wait(&bar, 0);
      for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) s[i] += 1;
      fence_async();
      __syncthreads();
      if (threadIdx.x == 0) { store(out + blockIdx.x * 1024, s, 4096); commit(); asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
    })");
  const Words in = counted(8 * 1024);
  Words want = in;
  for (std::uint32_t& word : want) ++word;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::uint64_t out = kernel.buffer(Words(in.size()));
    expect_no_fault(kernel.run({.grid = 8, .block = 96}, {kernel.buffer(in), out}, {.schedule_seed = seed}));
    EXPECT_EQ(kernel.words(out), want) << "seed " << seed;
  }
}

TEST(BulkCopies, AcceptCacheHintsAndTheNarrowDestination) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in, u32* out) {
      __shared__ alignas(16) u32 s[64];
      __shared__ u64 bar;
      if (threadIdx.x == 0) {
        init(&bar, 1); expect(&bar, 256); u64 policy;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" :: "l"(in));
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" :: "r"(at(s)), "l"(in), "r"(at(&bar)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0+128], [%1+128], 128, [%2], %3;" :: "r"(at(s)), "l"(in), "r"(at(&bar)), "l"(policy) : "memory");
      }
      __syncthreads();
      wait(&bar, 0);
      out[threadIdx.x] = s[threadIdx.x];
    })");
  const std::uint64_t out = kernel.buffer(Words(64));
  expect_no_fault(kernel.run(1, 64, {kernel.buffer(counted(64)), out}));
  EXPECT_EQ(kernel.words(out), counted(64));
}

TEST(BulkCopies, AddIntoGlobalMemoryFromEveryBlock) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(float* sum, u32* count, u64* wide) {
      __shared__ alignas(16) float f[64]; __shared__ alignas(16) u32 n[64]; __shared__ alignas(16) u64 w[64];
      const u32 t = threadIdx.x;
      f[t] = t * 0.5f; n[t] = t + blockIdx.x; w[t] = 1ull << 33;
      fence_async();
      __syncthreads();
      if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(sum), "r"(at(f)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%0], [%1], 256;" :: "l"(count), "r"(at(n)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], 512;" :: "l"(wide), "r"(at(w)) : "memory");
        commit(); wait_stores();
      }
    })");
  for (const std::uint64_t seed : {0, 4}) {
    const std::uint64_t sum = kernel.buffer(Words(64)), count = kernel.buffer(Words(64)), wide = kernel.buffer(Words(128));
    expect_no_fault(kernel.run({.grid = 12, .block = 64}, {sum, count, wide}, {.schedule_seed = seed}));
    for (unsigned t = 0; t < 64; ++t) {
      EXPECT_EQ(std::bit_cast<float>(kernel.words(sum)[t]), 6.0f * static_cast<float>(t));
      EXPECT_EQ(kernel.words(count)[t], t + 11);
      EXPECT_EQ(kernel.words(wide)[2 * t + 1], 24u);
    }
  }
}

TEST(BulkCopies, CountAsTrafficOfTheMemory) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(const char* in, char* out) {
      extern __shared__ __align__(128) char s[];
      __shared__ u64 bar;
      if (threadIdx.x == 0) {
        init(&bar, 1);
        for (u32 k = 0; k < 8; ++k) { expect(&bar, 16384); load(s, in + (blockIdx.x * 8 + k) * 16384, 16384, &bar); wait(&bar, k & 1); }
        store(out + blockIdx.x * 16384, s, 16384); commit(); wait_stores();
      }
    })");
  const std::uint64_t in = kernel.buffer(Words(132 * 8 * 4096)), out = kernel.buffer(Words(132 * 4096));
  const LaunchReport report = kernel.run({.grid = 132, .block = 32, .dynamic_shared_bytes = 16384}, {in, out});
  expect_no_fault(report);
  EXPECT_EQ(report.total.dram_bytes_read, 132u * 8 * 16384);
  EXPECT_EQ(report.total.dram_bytes_written, 132u * 16384);
  EXPECT_GE(report.total.us, 4.0 + static_cast<double>(report.total.dram_bytes_read) / 4.71e6);
}

TEST(BulkCopies, GoFromBlockToBlockOfACluster) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      __shared__ alignas(16) u32 mine[64], theirs[64];
      __shared__ u64 bar;
      const u32 t = threadIdx.x;
      if (t == 0) { init(&bar, 1); fence_init(); expect(&bar, 256); }
      mine[t] = rank() * 1000 + t;
      fence_async();
      cluster_sync();
      if (t == 0) asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                               :: "r"(map(theirs, rank() ^ 1)), "r"(at(mine)), "r"(map(&bar, rank() ^ 1)) : "memory");
      wait(&bar, 0);
      out[blockIdx.x * 64 + t] = theirs[t];
      cluster_sync();
    })");
  for (const std::uint64_t seed : {0, 1, 2}) {
    const std::uint64_t out = kernel.buffer(Words(4 * 64));
    expect_no_fault(kernel.run({.grid = 4, .block = 64, .cluster = 2}, {out}, {.schedule_seed = seed}));
    for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(kernel.words(out)[i], (i / 64 % 2 ? 0u : 1000u) + i % 64) << i;
  }
}

TEST(BulkCopies, ReachEveryBlockOfAMulticast) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in, u32* out) {
      __shared__ alignas(16) u32 s[64];
      __shared__ u64 bar;
      const u32 t = threadIdx.x;
      s[t] = 9;
      if (t == 0) { init(&bar, 1); fence_init(); if (rank() != 2) expect(&bar, 256); }
      cluster_sync();
      if (t == 0 && rank() == 1)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;"
                     :: "r"(at(s)), "l"(in), "r"(at(&bar)), "h"((unsigned short)0xb) : "memory");
      if (rank() != 2) wait(&bar, 0);
      out[blockIdx.x * 64 + t] = s[t];
      cluster_sync();
    })");
  for (const std::uint64_t seed : {0, 5}) {
    const std::uint64_t out = kernel.buffer(Words(4 * 64));
    const LaunchReport report = kernel.run({.grid = 4, .block = 64, .cluster = 4}, {kernel.buffer(counted(64)), out}, {.schedule_seed = seed});
    expect_no_fault(report);
    EXPECT_EQ(report.total.dram_bytes_read, 256u) << "read once for all";
    for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(kernel.words(out)[i], i / 64 == 2 ? 9u : i % 64 * 7) << i;
  }
}

TEST(BulkCopies, OfCpAsyncTellABarrierWhenTheyHaveLanded) {
  for (const char* const form : {".noinc", ""}) {
    const bool counted_before = *form != 0;
    EmulatedKernel kernel(kDeviceCode + R"(
      extern "C" __global__ void kernel(const u32* in, u32* out) {
        __shared__ alignas(16) u32 s[128];
        __shared__ u64 bar;
        const u32 t = threadIdx.x;
        if (t == 0) init(&bar, 32);
        __syncthreads();
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at(s + t * 4)), "l"(in + t * 4) : "memory");
        asm volatile("cp.async.mbarrier.arrive)" + std::string(form) + R"(.shared::cta.b64 [%0];" :: "r"(at(&bar)) : "memory");)" +
                          (counted_before ? "" : "arrive(&bar);") + R"(
        wait(&bar, 0);
        for (u32 i = t; i < 128; i += 32) out[i] = s[127 - i];
      })");
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::uint64_t out = kernel.buffer(Words(128));
      expect_no_fault(kernel.run({.grid = 1, .block = 32}, {kernel.buffer(counted(128)), out}, {.schedule_seed = seed}));
      for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(kernel.words(out)[i], (127 - i) * 7);
    }
  }
}

}  // namespace
}  // namespace onelaunch::emu
