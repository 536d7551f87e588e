#include <gtest/gtest.h>

#include <bit>

#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

TEST(Clusters, KnowTheirRanksAndSizes) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      u32 r[6];
      asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank; mov.u32 %2, %%clusterid.x; mov.u32 %3, %%nclusterid.x; mov.u32 %4, %%cluster_ctaid.x; mov.u32 %5, %%cluster_nctaid.x;"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]));
      for (int i = 0; i < 6; ++i) out[blockIdx.x * 6 + i] = r[i];
    })");
  const std::uint64_t out = kernel.buffer(Words(8 * 6));
  expect_no_fault(kernel.run({.grid = 8, .block = 1, .cluster = 4}, {out}));
  for (unsigned b = 0; b < 8; ++b) {
    const Words all = kernel.words(out);
    EXPECT_EQ(Words(all.begin() + b * 6, all.begin() + b * 6 + 6), (Words{b % 4, 4, b / 4, 2, b % 4, 4})) << b;
  }
}

// Each block reads, writes and adds in the shared memory of the next one.
TEST(Clusters, ReachEachOthersSharedMemory) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void __cluster_dims__(4, 1, 1) kernel(u32* out) {
      __shared__ u32 s[64]; __shared__ u32 sum;
      const u32 t = threadIdx.x, next = (rank() + 1) % 4;
      s[t] = rank() * 100 + t;
      if (t == 0) sum = 0;
      cluster_sync();
      u32 got, home;
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(map(s + t, next)) : "memory");
      asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" :: "r"(map(&sum, next)), "r"(t) : "memory");
      asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(home) : "r"(map(s, next)));
      cluster_sync();
      asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(map(s + t, next)), "r"(got + home) : "memory");
      cluster_sync();
      out[blockIdx.x * 65 + t] = s[t];
      out[blockIdx.x * 65 + 64] = sum;
    })");
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::uint64_t out = kernel.buffer(Words(8 * 65));
    expect_no_fault(kernel.run({.grid = 8, .block = 64}, {out}, {.schedule_seed = seed}));
    for (unsigned i = 0; i < 8 * 65; ++i) {
      const unsigned rank = i / 65 % 4, t = i % 65;
      EXPECT_EQ(kernel.words(out)[i], t == 64 ? 2016u : rank * 100 + t + rank) << i;
    }
  }
}

TEST(Clusters, PassGenericPointersIntoPeers) {
  EmulatedKernel kernel(R"(
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void __cluster_dims__(2, 1, 1) kernel(unsigned* out) {
      __shared__ unsigned s[32];
      cg::cluster_group cluster = cg::this_cluster();
      s[threadIdx.x] = cluster.block_rank() * 50 + threadIdx.x;
      cluster.sync();
      unsigned* const peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
      atomicAdd(peer + threadIdx.x, 1000u);
      cluster.sync();
      out[blockIdx.x * 32 + threadIdx.x] = peer[threadIdx.x] + cluster.query_shared_rank(peer);
      cluster.sync();
    })");
  const std::uint64_t out = kernel.buffer(Words(64));
  expect_no_fault(kernel.run({.grid = 2, .block = 32}, {out}));
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(kernel.words(out)[i], 1000u + (i < 32 ? 51 : 0) + i % 32) << i;
}

TEST(Clusters, StoreIntoAPeerWithBytesOnItsBarrier) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(float* out) {
      __shared__ alignas(16) float s[128]; __shared__ u32 n[32]; __shared__ u64 bar;
      const u32 t = threadIdx.x, peer = rank() ^ 1;
      n[t] = 5;
      if (t == 0) { init(&bar, 1); fence_init(); expect(&bar, 512 + 128); }
      cluster_sync();
      const float v = rank() * 10.0f + t;
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %1, %1, %2}, [%3];" :: "r"(map(s + t * 4, peer)), "f"(v), "f"(-v), "r"(map(&bar, peer)) : "memory");
      asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" :: "r"(map(n + t, peer)), "r"(t), "r"(map(&bar, peer)) : "memory");
      wait(&bar, 0);
      out[blockIdx.x * 32 + t] = s[t * 4] - s[t * 4 + 3] + n[t];
      cluster_sync();
    })");
  for (const std::uint64_t seed : {0, 1, 2}) {
    const std::uint64_t out = kernel.buffer(Words(64));
    expect_no_fault(kernel.run({.grid = 2, .block = 32, .cluster = 2}, {out}, {.schedule_seed = seed}));
    for (unsigned i = 0; i < 64; ++i) {
      const float t = static_cast<float>(i % 32), v = (i < 32 ? 10.0f : 0.0f) + t;
      EXPECT_EQ(std::bit_cast<float>(kernel.words(out)[i]), 2 * v + 5 + t) << i;
    }
  }
}

TEST(Clusters, ArriveAtBarriersOfPeers) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      __shared__ u64 bar; __shared__ u32 word;
      if (threadIdx.x == 0) { word = 0; init(&bar, 4); fence_init(); }
      cluster_sync();
      if (threadIdx.x == 0) {
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(map(&word, (rank() + 1) % 4)), "r"(rank() + 40) : "memory");
        for (u32 r = 0; r < 4; ++r) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(map(&bar, r)) : "memory");
      }
      asm volatile("{ .reg .pred P; AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%0], 0; @!P bra AGAIN; }" :: "r"(at(&bar)) : "memory");
      if (threadIdx.x == 33) out[blockIdx.x] = word;
      cluster_sync();
    })");
  const std::uint64_t out = kernel.buffer(Words(4));
  expect_no_fault(kernel.run({.grid = 4, .block = 64, .cluster = 4}, {out}, {.schedule_seed = 2}));
  EXPECT_EQ(kernel.words(out), (Words{43, 40, 41, 42}));
}

TEST(Clusters, DoNotWaitForThreadsThatHaveEnded) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      if (rank() == 1 && threadIdx.x >= 32) return;
      asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
      out[blockIdx.x] = 1;
    })");
  const std::uint64_t out = kernel.buffer(Words(2));
  expect_no_fault(kernel.run({.grid = 2, .block = 64, .cluster = 2}, {out}));
  EXPECT_EQ(kernel.words(out), Words(2, 1));
}

LaunchReport run(const std::string& body, LaunchShape shape) {
  EmulatedKernel kernel(kDeviceCode + "extern \"C\" __global__ void kernel(u32* out) { __shared__ u32 s[32]; s[threadIdx.x % 32] = 1;\n" + body + "\n}");
  return kernel.run(shape, {kernel.buffer(Words(1024))});
}

TEST(Clusters, ReportMisuse) {
  const LaunchShape pair{.grid = 2, .block = 32, .cluster = 2};
  expect_fault(run("asm volatile(\"barrier.cluster.wait;\");", pair), Fault::Kind::misuse, "without having arrived");
  expect_fault(run("asm volatile(\"barrier.cluster.arrive; barrier.cluster.arrive;\");", pair), Fault::Kind::misuse, "without having waited");
  expect_fault(run("if (threadIdx.x < 16) { cluster_sync(); out[0] = 1; } else { out[1] = 2; cluster_sync(); out[2] = 3; }", pair), Fault::Kind::misuse, "aligned cluster barrier");
  expect_fault(run("out[0] = map(s, 2);", pair), Fault::Kind::misuse, "mapa names rank 2 of a cluster of 2");
  expect_fault(run("if (rank() == 0) { for (int i = 0; i < 20000; ++i) asm volatile(\"nanosleep.u32 1;\"); asm volatile(\"ld.shared::cluster.u32 %0, [%1];\" : \"=r\"(out[0]) : \"r\"(map(s, 1))); }", pair),
               Fault::Kind::wrong_space, "which has ended");
  expect_fault(run("if (rank() == 0) cluster_sync(); else { __shared__ u64 bar; if (threadIdx.x == 0) init(&bar, 1); __syncwarp(); wait(&bar, 0); }", pair), Fault::Kind::deadlock, "waits at the cluster barrier: 32 of 64 threads arrived");
}

TEST(Clusters, MustFitTheGridAndTheDevice) {
  expect_fault(run("", {.grid = 3, .block = 32, .cluster = 2}), Fault::Kind::misuse, "no multiple of its clusters of 2");
  expect_fault(run("", {.grid = 128, .block = 32, .dynamic_shared_bytes = 200000, .cluster = 4}), Fault::Kind::not_resident, "120 such blocks");
  expect_no_fault(run("cluster_sync();", {.grid = 132, .block = 32, .dynamic_shared_bytes = 200000, .cluster = 2}));
}

}  // namespace
}  // namespace onelaunch::emu
