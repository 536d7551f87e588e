// The asynchronous instructions as CUDA's own headers emit them, and the wide words that kernels poll.
#include <gtest/gtest.h>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

TEST(CudaHeaders, CopyInBulkWithBarriersAndPipelines) {
  EmulatedKernel kernel(R"(
    #include <cuda/barrier>
    #include <cuda/pipeline>
    #include <cuda/ptx>
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    #pragma nv_diag_suppress static_var_with_dynamic_init
    extern "C" __global__ void kernel(const unsigned* in, unsigned* out) {
      __shared__ alignas(128) unsigned buf[256];
      __shared__ barrier bar;
      const unsigned t = threadIdx.x;
      if (t == 0) { init(&bar, blockDim.x); cuda::ptx::fence_proxy_async(); }
      __syncthreads();
      barrier::arrival_token token;
      if (t == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(buf, in, sizeof buf, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof buf);
      } else token = bar.arrive();
      bar.wait(static_cast<barrier::arrival_token&&>(token));
      buf[t] += 5;
      cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
      __syncthreads();
      if (t == 0) {
        cuda::device::experimental::cp_async_bulk_shared_to_global(out, buf, sizeof buf);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
      }
      __syncthreads();
      cuda::memcpy_async(cg::this_thread_block(), buf, in + 256, sizeof(unsigned) * 256, bar);
      bar.arrive_and_wait();
      out[256 + t] = buf[255 - t];
      __syncthreads();
      __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
      auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
      for (int i = 0; i < 3; ++i) {
        pipe.producer_acquire(); cuda::memcpy_async(cg::this_thread_block(), buf, in + 512 + i * 256, sizeof buf, pipe); pipe.producer_commit();
        pipe.consumer_wait(); out[512 + i * 256 + t] = buf[t]; __syncthreads(); pipe.consumer_release();
      }
    })");
  Words in(1280), want(1280);
  for (unsigned i = 0; i < 1280; ++i) want[i] = in[i] = i * 3;
  for (unsigned i = 0; i < 256; ++i) want[i] += 5, want[256 + i] = in[511 - i];
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const std::uint64_t out = kernel.buffer(Words(1280));
    expect_no_fault(kernel.run({.grid = 1, .block = 256}, {kernel.buffer(in), out}, {.schedule_seed = seed}));
    EXPECT_EQ(kernel.words(out), want) << "seed " << seed;
  }
}

TEST(CudaHeaders, SpeakOfClustersThroughCudaPtx) {
  EmulatedKernel kernel(R"(
    #include <cuda/ptx>
    #include <cuda/std/cstdint>
    namespace ptx = cuda::ptx;
    template <class T> __device__ T* in_peer(T* p, unsigned rank) { T* q; asm("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(rank)); return q; }
    using u64 = cuda::std::uint64_t;
    extern "C" __global__ void __cluster_dims__(2, 1, 1) kernel(const int* in, int* out, int* sum) {
      __shared__ alignas(128) int s[128], both[128];
      __shared__ alignas(16) cuda::std::uint32_t words[4];
      __shared__ u64 full, both_full, word_full;
      const unsigned t = threadIdx.x, peer = ptx::get_sreg_cluster_ctarank() ^ 1;
      if (t == 0) {
        for (u64* b : {&full, &both_full, &word_full}) ptx::mbarrier_init(b, 1);
        for (int i = 0; i < 4; ++i) words[i] = 100;
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 512);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &both_full, 512);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &word_full, 4 + 8);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + blockIdx.x * 128, 512, &full);
      }
      ptx::barrier_cluster_arrive(ptx::sem_release);
      ptx::barrier_cluster_wait(ptx::sem_acquire);
      if (t == 0) {
        if (peer == 1) { const cuda::std::uint16_t ranks = 3; ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, both, in + 256, 512, &both_full, ranks); }
        ptx::red_async(ptx::op_add, in_peer(&words[0], peer), 5u, in_peer(&word_full, peer));
        ptx::st_async(in_peer(&words[2], peer), {7u, 8u}, in_peer(&word_full, peer));
      }
      while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &full, 0)) {}
      while (!ptx::mbarrier_try_wait_parity(&both_full, 0, 1000)) {}
      while (!ptx::mbarrier_test_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &word_full, 0)) {}
      out[blockIdx.x * 128 + t] = s[t] + both[t] + words[t % 4];
      s[t] += ptx::getctarank(ptx::space_cluster, in_peer(s, peer));
      ptx::fence_proxy_async(ptx::space_shared);
      __syncthreads();
      if (t == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sum, s, 512);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
      }
      ptx::barrier_cluster_arrive();
      ptx::barrier_cluster_wait();
    })");
  Words in(384);
  for (unsigned i = 0; i < 384; ++i) in[i] = i * i;
  for (const std::uint64_t seed : {0, 1, 2}) {
    const std::uint64_t out = kernel.buffer(Words(256)), sum = kernel.buffer(Words(128));
    expect_no_fault(kernel.run({.grid = 2, .block = 128}, {kernel.buffer(in), out, sum}, {.schedule_seed = seed, .checks = {.races = true, .undefined = true}}));
    for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(kernel.words(out)[i], in[i] + in[256 + i % 128] + (Words{105, 100, 7, 8})[i % 4]) << i;
    for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(kernel.words(sum)[t], in[t] + in[128 + t] + 1) << t;
  }
}

// A word of 16 bytes with its epoch in the last lane, as flagged exchanges pass it on.
TEST(WideWords, CarryAFlagWithTheirData) {
  for (const char* const form : {"v4.u32", "b128"}) {
    const bool whole = std::string(form) == "b128";
    const std::string st = whole ? R"(asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.gpu.global.b128 [%0], q; }" :: "l"(p), "l"(x.a), "l"(x.b) : "memory");)"
                                 : R"(asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" :: "l"(p), "r"(x.w[0]), "r"(x.w[1]), "r"(x.w[2]), "r"(x.w[3]) : "memory");)";
    const std::string ld = whole ? R"(asm volatile("{ .reg .b128 q; ld.relaxed.gpu.global.b128 q, [%2]; mov.b128 {%0, %1}, q; }" : "=l"(x.a), "=l"(x.b) : "l"(p) : "memory");)"
                                 : R"(asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.w[0]), "=r"(x.w[1]), "=r"(x.w[2]), "=r"(x.w[3]) : "l"(p) : "memory");)";
    EmulatedKernel kernel(R"(
      union Word { unsigned w[4]; struct { unsigned long long a, b; }; };
      extern "C" __global__ void kernel(unsigned* words, unsigned* out) {
        unsigned* const p = words + (blockIdx.x & ~1u) * 128 + threadIdx.x * 4;
        Word x;
        if (blockIdx.x & 1) { x.w[0] = threadIdx.x; x.w[1] = 7; x.w[2] = blockIdx.x; x.w[3] = 1; )" + st + R"( }
        else { do { )" + ld + R"( } while (x.w[3] != 1); out[blockIdx.x * 32 + threadIdx.x] = x.w[0] * x.w[1] + x.w[2]; }
      })");
    const std::uint64_t out = kernel.buffer(Words(4 * 32));
    expect_no_fault(kernel.run({.grid = 4, .block = 32}, {kernel.buffer(Words(4 * 128)), out}));
    for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(kernel.words(out)[i], i / 32 % 2 ? 0u : i % 32 * 7 + i / 32 + 1) << i;
  }
}

TEST(WideWords, AddUpByVectorReductionsOfEveryOrder) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(float* sum) {
      const float v = threadIdx.x;
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, %2, %2};" :: "l"(sum), "f"(v), "f"(-v) : "memory");
      asm volatile("red.release.gpu.global.add.v2.f32 [%0], {%1, %2};" :: "l"(sum + 4), "f"(v), "f"(-v) : "memory");
      asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(sum + 8), "f"(v) : "memory");
      float a, b;
      asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %3};" : "=f"(a), "=f"(b) : "l"(sum + 6), "f"(1.0f) : "memory");
      sum[12 + threadIdx.x] = a - b;
    })");
  const std::uint64_t sum = kernel.buffer(Words(64));
  expect_no_fault(kernel.run(1, 32, {sum}));
  const auto value = [&](unsigned i) { return std::bit_cast<float>(kernel.words(sum)[i]); };
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(value(i), i == 2 || i == 3 || i == 5 ? -496.0f : i == 6 || i == 7 ? 32.0f : 496.0f) << i;
  for (unsigned i = 12; i < 44; ++i) EXPECT_EQ(value(i), 0.0f);
}

}  // namespace
}  // namespace onelaunch::emu
