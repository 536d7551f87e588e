// What an ordinary CUDA C++ kernel compiles to: mathematics, integers, groups.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(Language, ComputesTheMathematicsOfTheStandardLibrary) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(float* out) {
      const float x = 0.37f + threadIdx.x * 0.731f;
      float* o = out + threadIdx.x * 12;
      o[0] = sinf(float(threadIdx.x) * 40.0f); o[1] = cosf(x); o[2] = expf(x); o[3] = logf(x); o[4] = powf(x, 1.7f); o[5] = tanhf(x * 0.2f);
      o[6] = erff(x * 0.1f); o[7] = rsqrtf(x); o[8] = x / 3.7f; o[9] = float(exp(double(x)) / 7.0); o[10] = fmodf(x, 0.9f); o[11] = log1pf(x);
    })");
  const std::uint64_t out = kernel.buffer(Words(32 * 12));
  expect_no_fault(kernel.run(1, 32, {out}));
  const Words got = kernel.words(out);
  for (unsigned t = 0; t < 32; ++t) {
    const float x = 0.37f + static_cast<float>(t) * 0.731f;
    const double d = x;
    const double want[] = {std::sin(40.0 * t), std::cos(d), std::exp(d), std::log(d), std::pow(d, double(1.7f)), std::tanh(double(x * 0.2f)),
                           std::erf(double(x * 0.1f)), 1 / std::sqrt(d), d / double(3.7f), std::exp(d) / 7, std::fmod(x, 0.9f), std::log1p(d)};
    for (unsigned i = 0; i < 12; ++i)
      EXPECT_NEAR(as_float(got[t * 12 + i]), want[i], 4e-6 * std::max(1.0, std::abs(want[i]))) << "function " << i << " of " << x;
  }
}

TEST(Language, DividesAndShiftsIntegersOfEveryWidth) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel(long long* out, long long n) {
      const long long a = (threadIdx.x * 0x123456789abll) ^ -(long long)(threadIdx.x % 5) * 77777, b = threadIdx.x % 7 + 1;
      long long* o = out + threadIdx.x * 8;
      o[0] = a / (n + b); o[1] = a % (n + b); o[2] = (unsigned long long)a / 1000003ull; o[3] = int(a) / int(b);
      o[4] = __mulhi(int(a), int(b) * 99991); o[5] = __funnelshift_l(unsigned(a), unsigned(a >> 32), threadIdx.x);
      o[6] = __clzll(a) * 100 + __popcll(a); o[7] = __dp4a(int(a), int(a >> 8), 5) + __byte_perm(unsigned(a), unsigned(b), 0x6420);
    })");
  const std::uint64_t out = kernel.buffer(Words(32 * 16));
  expect_no_fault(kernel.run(1, 32, {out, 3}));
  const Words got = kernel.words(out);
  for (unsigned t = 0; t < 32; ++t) {
    const std::int64_t a = (t * std::int64_t{0x123456789ab}) ^ -static_cast<std::int64_t>(t % 5) * 77777, b = t % 7 + 1;
    const auto low = static_cast<std::uint32_t>(a), high = static_cast<std::uint32_t>(a >> 32);
    int dot = 5;
    for (int i = 0; i < 4; ++i) dot += static_cast<std::int8_t>(a >> (8 * i)) * static_cast<std::int8_t>(a >> (8 * i + 8));
    const std::uint32_t permuted = (low & 0xff) | (low >> 16 & 0xff) << 8 | (static_cast<std::uint32_t>(b) & 0xff) << 16;
    const std::int64_t want[] = {
        a / (3 + b), a % (3 + b), static_cast<std::int64_t>(static_cast<std::uint64_t>(a) / 1000003u), static_cast<std::int32_t>(a) / static_cast<std::int32_t>(b),
        static_cast<std::int32_t>((static_cast<std::int64_t>(static_cast<std::int32_t>(a)) * (b * 99991)) >> 32),
        static_cast<std::int64_t>(t == 0 ? high : high << t | low >> (32 - t)),
        std::countl_zero(static_cast<std::uint64_t>(a)) * 100 + std::popcount(static_cast<std::uint64_t>(a)), 0};
    for (unsigned i = 0; i < 7; ++i) {
      const std::int64_t value = static_cast<std::int64_t>(got[t * 16 + 2 * i] | std::uint64_t{got[t * 16 + 2 * i + 1]} << 32);
      EXPECT_EQ(value, want[i]) << "operation " << i << " lane " << t;
    }
    EXPECT_EQ(got[t * 16 + 14], static_cast<std::uint32_t>(dot) + permuted) << t;
  }
}

TEST(Language, ReducesWithCooperativeGroups) {
  EmulatedKernel kernel(R"(
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void kernel(unsigned* out) {
      const cg::thread_block block = cg::this_thread_block();
      const auto tile = cg::tiled_partition<8>(block);
      out[threadIdx.x] = cg::reduce(tile, threadIdx.x + 1, cg::plus<unsigned>()) + __reduce_max_sync(~0u, threadIdx.x);
      block.sync();
    })");
  const std::uint64_t out = kernel.buffer(Words(64));
  expect_no_fault(kernel.run(1, 64, {out}));
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned first = t / 8 * 8;
    EXPECT_EQ(kernel.words(out)[t], 8 * first + 36 + t / 32 * 32 + 31) << t;
  }
}

}  // namespace
}  // namespace onelaunch::emu
