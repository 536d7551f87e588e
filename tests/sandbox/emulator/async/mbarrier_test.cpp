#include <gtest/gtest.h>

#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

TEST(Mbarriers, PassPhaseAfterPhaseByStateAndParity) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      __shared__ u64 bar; __shared__ u32 value;
      if (threadIdx.x == 0) init(&bar, blockDim.x);
      __syncthreads();
      u32 sum = 0;
      for (u32 i = 0; i < 6; ++i) {
        if (threadIdx.x == i * 13) value = i + 1;
        u64 state; u32 ok;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(&bar)) : "memory");
        if (i % 2) do asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(at(&bar)), "l"(state) : "memory"); while (!ok);
        else wait(&bar, 0);
        sum = sum * 10 + value;
        arrive(&bar);
        wait(&bar, 1);
      }
      out[threadIdx.x] = sum;
    })");
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::uint64_t out = kernel.buffer(Words(96));
    expect_no_fault(kernel.run({.grid = 1, .block = 96}, {out}, {.schedule_seed = seed}));
    EXPECT_EQ(kernel.words(out), Words(96, 123456));
  }
}

TEST(Mbarriers, CountArrivalsPendingAndDropped) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      __shared__ u64 bar;
      u64 s; u32 n;
      init(&bar, 10);
      asm volatile("mbarrier.arrive.release.cta.shared.b64 %0, [%1], 3;" : "=l"(s) : "r"(at(&bar)) : "memory");
      asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s));
      out[0] = n;
      asm volatile("mbarrier.arrive.noComplete.release.cta.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(at(&bar)) : "memory");
      asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s));
      out[1] = n;
      out[2] = test(&bar, 0);
      asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1], 5;" : "=l"(s) : "r"(at(&bar)) : "memory");
      out[3] = test(&bar, 0);
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 4;" : "=l"(s) : "r"(at(&bar)) : "memory");
      asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s));
      out[4] = n;
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 32;" :: "r"(at(&bar)) : "memory");
      arrive(&bar);
      out[5] = test(&bar, 1);
      asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" :: "r"(at(&bar)) : "memory");
      out[6] = test(&bar, 1);
      asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at(&bar)) : "memory");
      init(&bar, 1);
      out[7] = test(&bar, 1);
    })");
  const std::uint64_t out = kernel.buffer(Words(8, 99));
  expect_no_fault(kernel.run(1, 1, {out}));
  EXPECT_EQ(kernel.words(out), (Words{10, 7, 0, 1, 5, 0, 1, 1}));
}

TEST(Mbarriers, WorkThroughGenericAddresses) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      __shared__ u64 bar;
      asm volatile("mbarrier.init.b64 [%0], 1;" :: "l"(&bar) : "memory");
      asm volatile("mbarrier.arrive.b64 _, [%0];" :: "l"(&bar) : "memory");
      u32 ok;
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "l"(&bar) : "memory");
      out[0] = ok;
    })");
  const std::uint64_t out = kernel.buffer(Words(1));
  expect_no_fault(kernel.run(1, 1, {out}));
  EXPECT_EQ(kernel.words(out)[0], 1u);
}

TEST(Mbarriers, LetLanesOfOneWarpWaitForOneAnother) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* out) {
      __shared__ u64 bar; __shared__ u32 value;
      if (threadIdx.x == 0) init(&bar, 1);
      __syncwarp();
      if (threadIdx.x != 5) wait(&bar, 0);
      else { value = 77; arrive(&bar); }
      out[threadIdx.x] = value;
    })");
  const std::uint64_t out = kernel.buffer(Words(32));
  expect_no_fault(kernel.run(1, 32, {out}));
  EXPECT_EQ(kernel.words(out), Words(32, 77));
}

TEST(Mbarriers, SayWhichBytesNeverCame) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in) {
      __shared__ alignas(16) u32 s[64]; __shared__ u64 bar;
      if (threadIdx.x == 0) { init(&bar, 1); expect(&bar, 256); load(s, in, 128, &bar); }
      __syncthreads();
      wait(&bar, 0);
    })");
  const LaunchReport report = kernel.run({.grid = 2, .block = 64}, {kernel.buffer(Words(64))});
  expect_fault(report, Fault::Kind::deadlock, "phase 0 (parity 0) lacks 0 of 1 arrivals and 128 bytes");
  expect_fault(report, Fault::Kind::deadlock, "2 block(s) from 0 to 1");
}

}  // namespace
}  // namespace onelaunch::emu
