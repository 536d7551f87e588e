#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/check/checked_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

LaunchReport run(EmulatedKernel& kernel, std::uint64_t scratch) {
  return kernel.run({.grid = 1, .block = 64}, {scratch, kernel.buffer(Words(64))}, {.checks = kUndefined});
}

TEST(Undefined, SharedMemoryThatIsReadIsReported) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* a, unsigned* b) { __shared__ unsigned s[64]; if (threadIdx.x < 60) s[threadIdx.x] = 1; __syncthreads(); b[threadIdx.x] = s[63 - threadIdx.x]; }");
  const LaunchReport report = run(kernel, kernel.buffer(Words(64)));
  expect_fault(report, Fault::Kind::uninitialised_read, "in thread 0 of block 0 of kernel reads byte 252 of the shared memory of block 0");
}

TEST(Undefined, SharedMemoryThatWasWrittenIsNot) {
  EmulatedKernel kernel(kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* a, u32* b) {
      __shared__ alignas(16) u32 s[64]; __shared__ u64 bar; __shared__ u32 count;
      if (threadIdx.x == 0) { count = 0; init(&bar, 1); expect(&bar, 256); load(s, a, 256, &bar); }
      __syncthreads();
      wait(&bar, 0);
      atomicAdd(&count, s[threadIdx.x]);
      __syncthreads();
      b[threadIdx.x] = count;
    })");
  expect_no_fault(run(kernel, kernel.buffer(Words(64))));
}

constexpr const char* kAddUp = "extern \"C\" __global__ void kernel(unsigned* a, unsigned* b) { atomicAdd(a + threadIdx.x % 8, 1u); b[threadIdx.x] = 2; }";

TEST(Undefined, AllocationsHoldNothingUntilAKernelWritesThem) {
  EmulatedKernel adds(kAddUp);
  const std::uint64_t scratch = adds.undefined_buffer(64, "scratch");
  expect_fault(run(adds, scratch), Fault::Kind::uninitialised_read, "scratch + 0x0");
  adds.device().set_defined(scratch, true);
  expect_no_fault(run(adds, scratch));
}

TEST(Undefined, WhatOneLaunchWroteTheNextMayRead) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel(unsigned* a, unsigned* b, unsigned long long n) { if (n) a[threadIdx.x] = 1; else b[threadIdx.x] = a[63 - threadIdx.x]; }");
  const std::uint64_t scratch = kernel.undefined_buffer(64, "scratch"), out = kernel.buffer(Words(64));
  const LaunchOptions options{.checks = kUndefined};
  expect_no_fault(kernel.run({.grid = 1, .block = 64}, {scratch, out, 1}, options));
  expect_no_fault(kernel.run({.grid = 1, .block = 64}, {scratch, out, 0}, options));
  kernel.device().set_defined(scratch, false);
  expect_fault(kernel.run({.grid = 1, .block = 64}, {scratch, out, 0}, options), Fault::Kind::uninitialised_read, "scratch + 0xfc");
}

}  // namespace
}  // namespace onelaunch::emu
