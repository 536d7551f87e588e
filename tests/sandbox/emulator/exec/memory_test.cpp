#include <gtest/gtest.h>

#include <bit>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

std::string kernel_of(const std::string& body) {
  return "extern \"C\" __global__ void kernel(unsigned* a, unsigned* b) { const unsigned t = threadIdx.x;\n" + body + "\n}";
}

TEST(LoadsAndStores, CopyEveryWidthSideBySideAndScattered) {
  EmulatedKernel kernel(kernel_of(R"(
    reinterpret_cast<uint4*>(b)[t] = reinterpret_cast<uint4*>(a)[t];
    reinterpret_cast<uint2*>(b)[64 + (t * 5) % 32] = reinterpret_cast<uint2*>(a)[64 + (t * 5) % 32];
    reinterpret_cast<unsigned char*>(b + 192)[t] = reinterpret_cast<unsigned char*>(a + 192)[t];
    reinterpret_cast<short*>(b + 200)[31 - t] = reinterpret_cast<short*>(a + 200)[31 - t];
    if (t % 3 == 0) b[216 + t] = reinterpret_cast<signed char*>(a + 192)[t] < 0 ? 1 : 2;)"));
  Words in(256);
  for (unsigned i = 0; i < 256; ++i) in[i] = i * 0x9e3779b9u;
  const std::uint64_t out = kernel.buffer(Words(256));
  expect_no_fault(kernel.run(1, 32, {kernel.buffer(in), out}));
  const Words got = kernel.words(out);
  for (unsigned i = 0; i < 216; ++i) EXPECT_EQ(got[i], in[i]) << i;
  for (unsigned t = 0; t < 32; t += 3) EXPECT_EQ(got[216 + t], (in[192 + t / 4] >> (t % 4 * 8 + 7) & 1) ? 1u : 2u) << t;
}

TEST(LoadsAndStores, ReportAnAccessPastTheEndWithNameAndLane) {
  EmulatedKernel kernel(kernel_of("b[t] = a[t];"));
  const std::uint64_t small = kernel.buffer(Words(31, 5), "weights q"), out = kernel.buffer(Words(32));
  const LaunchReport report = kernel.run(1, 32, {small, out});
  expect_fault(report, Fault::Kind::out_of_bounds, "weights q");
  expect_fault(report, Fault::Kind::out_of_bounds, "lane 31");
  expect_fault(report, Fault::Kind::out_of_bounds, "kernel.cu:2");
  EXPECT_EQ(kernel.words(out)[30], 5u);
}

TEST(LoadsAndStores, ReportWrongSharedAccesses) {
  EmulatedKernel kernel(kernel_of("extern __shared__ unsigned s[]; s[t + 1] = t; __syncthreads(); b[t] = s[t];"));
  const LaunchReport report = kernel.run({.grid = 1, .block = 32, .dynamic_shared_bytes = 128}, {0, kernel.buffer(Words(32))});
  expect_fault(report, Fault::Kind::out_of_bounds, "shared memory byte 128");
}

TEST(LoadsAndStores, ReportMisalignedReadOnlyAndNullAccesses) {
  EmulatedKernel kernel(kernel_of(R"(
    if (t == 0) asm volatile("{ .reg .u32 x<4>; ld.global.v4.u32 {x0, x1, x2, x3}, [%0]; }" :: "l"(a + 1) : "memory");
    if (t == 1) a[0] = 1;
    if (t == 2) b[1] = *static_cast<volatile unsigned*>(nullptr);)"));
  const LaunchReport report = kernel.run(1, 32, {kernel.buffer(Words(64), "weights", true), kernel.buffer(Words(8))});
  expect_fault(report, Fault::Kind::misaligned, "weights");
  expect_fault(report, Fault::Kind::read_only_write, "weights");
  expect_fault(report, Fault::Kind::out_of_bounds, "0x0");
}

TEST(AddressSpaces, GoThroughGenericPointers) {
  EmulatedKernel kernel(R"(
    __constant__ unsigned table[4] = {11, 22, 33, 44};
    __device__ const unsigned more[3] = {5, 6, 7};
    __noinline__ __device__ unsigned sum(const unsigned* p, unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; ++i) s += p[i]; return s; }
    extern "C" __global__ void kernel(unsigned* a, unsigned* b) {
      __shared__ unsigned shared[4];
      const unsigned t = threadIdx.x;
      unsigned local[4];
      for (unsigned i = 0; i < 4; ++i) local[(i + t) % 4] = i * t;
      if (t < 4) shared[t] = 100 + t;
      __syncthreads();
      b[t] = sum(local, 3) + sum(shared, 4) + sum(table, 4) + sum(more, 3) + sum(a, 2) + local[t % 4];
    })");
  const std::uint64_t out = kernel.buffer(Words(32));
  expect_no_fault(kernel.run(1, 32, {kernel.buffer({1000, 2000}), out}));
  for (unsigned t = 0; t < 32; ++t) {
    unsigned local[4];
    for (unsigned i = 0; i < 4; ++i) local[(i + t) % 4] = i * t;
    EXPECT_EQ(kernel.words(out)[t], local[0] + local[1] + local[2] + 406 + 110 + 18 + 3000 + local[t % 4]) << t;
  }
}

TEST(Atomics, ChangeWordsOfEveryType) {
  EmulatedKernel kernel(R"(
    #include <cuda_bf16.h>
    #include <cuda_fp16.h>
    extern "C" __global__ void kernel(unsigned* a, unsigned* b) {
      const unsigned t = threadIdx.x;
      atomicAdd(a, t); atomicMax(a + 1, t); atomicMin(reinterpret_cast<int*>(a + 2), -int(t)); atomicXor(a + 3, 1u << t);
      atomicInc(a + 4, 9u); atomicAdd(reinterpret_cast<float*>(a + 5), 0.5f);
      atomicAdd(reinterpret_cast<unsigned long long*>(a + 6), 1ull << 33);
      atomicAdd(reinterpret_cast<__half2*>(a + 8), __floats2half2_rn(1.0f, 2.0f));
      atomicAdd(reinterpret_cast<__nv_bfloat162*>(a + 9), __floats2bfloat162_rn(1.0f, -1.0f));
      asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(a + 12), "f"(float(t)) : "memory");
      b[t] = atomicExch(a + 10, t + 1); if (t == 31) atomicCAS(a + 11, 6u, 66u);
    })");
  Words words(16);
  words[11] = 6;
  const std::uint64_t a = kernel.buffer(words), b = kernel.buffer(Words(32));
  expect_no_fault(kernel.run(1, 32, {a, b}));
  const Words got = kernel.words(a);
  EXPECT_EQ(got[0], 496u);
  EXPECT_EQ(got[1], 31u);
  EXPECT_EQ(static_cast<int>(got[2]), -31);
  EXPECT_EQ(got[3], ~0u);
  EXPECT_EQ(got[4], 32u % 10);
  EXPECT_EQ(std::bit_cast<float>(got[5]), 16.0f);
  EXPECT_EQ(got[7], 64u);
  EXPECT_EQ(got[8], 0x54005000u);  // 32 and 64 in f16
  EXPECT_EQ(got[9], 0xc2004200u);  // 32 and -32 in bf16
  EXPECT_EQ(got[11], 66u);
  for (unsigned i = 12; i < 16; ++i) EXPECT_EQ(std::bit_cast<float>(got[i]), 496.0f);
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(kernel.words(b)[t], t) << "the value before";
}

TEST(Atomics, KeepALockBetweenBlocks) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* lock, unsigned* total) {
      if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0u, 1u) != 0u) {}
        const unsigned now = *reinterpret_cast<volatile unsigned*>(total);
        for (int i = 0; i < 300; ++i) asm volatile("");
        *reinterpret_cast<volatile unsigned*>(total) = now + blockIdx.x;
        __threadfence();
        atomicExch(lock, 0u);
      }
    })");
  const std::uint64_t total = kernel.buffer(Words(1));
  expect_no_fault(kernel.run({.grid = 100, .block = 64}, {kernel.buffer(Words(1)), total}, {.schedule_seed = 3}));
  EXPECT_EQ(kernel.words(total)[0], 4950u);
}

TEST(Matrices, ComeBackAsTheyWentAndTransposed) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* a, unsigned* b) {
      __shared__ __align__(16) unsigned s[128]; __shared__ __align__(16) unsigned d[128];
      const unsigned t = threadIdx.x;
      for (unsigned i = t; i < 128; i += 32) s[i] = a[i];
      __syncthreads();
      unsigned from = __cvta_generic_to_shared(s + t * 4), to = __cvta_generic_to_shared(d + t * 4), r0, r1, r2, r3, q;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(from));
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" :: "r"(to), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(q) : "r"(from));
      __syncthreads();
      for (unsigned i = t; i < 128; i += 32) b[i] = d[i];
      b[128 + t] = q;
    })");
  Words in(128);
  for (unsigned i = 0; i < 128; ++i) in[i] = (2 * i) | (2 * i + 1) << 16;  // 16-bit element k holds k
  const std::uint64_t out = kernel.buffer(Words(160));
  expect_no_fault(kernel.run(1, 32, {kernel.buffer(in), out}));
  const Words got = kernel.words(out);
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(got[i], in[i]) << i;
  for (unsigned t = 0; t < 32; ++t) {
    const unsigned row = t % 4 * 2, column = t / 4;  // element (row, column) of the 8x8 matrix is row * 8 + column
    EXPECT_EQ(got[128 + t], (row * 8 + column) | ((row + 1) * 8 + column) << 16) << t;
  }
}

TEST(AsyncCopies, FillSharedMemoryAndZeroTheRest) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(unsigned* a, unsigned* b) {
      __shared__ __align__(16) unsigned s[128];
      const unsigned t = threadIdx.x, to = __cvta_generic_to_shared(s + t * 4), bytes = t < 31 ? 16 : 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(a + t * 4), "r"(bytes) : "memory");
      asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
      __syncthreads();
      for (unsigned i = t; i < 128; i += 32) b[i] = s[i];
    })");
  const std::uint64_t out = kernel.buffer(Words(128, 7));
  expect_no_fault(kernel.run(1, 32, {kernel.buffer(Words(128, 3)), out}));
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(kernel.words(out)[i], i < 126 ? 3u : 0u) << i;
}

}  // namespace
}  // namespace onelaunch::emu
