#include "tests/sandbox/emulator/check/checked_kernel.h"

namespace onelaunch::emu {
namespace {

std::string reverse(const std::string& between) {
  return R"(
    extern "C" __global__ void kernel(unsigned* a, unsigned* b, unsigned* c) {
      __shared__ unsigned s[128];
      for (int round = 0; round < 3; ++round) {
        s[threadIdx.x] = a[threadIdx.x] + threadIdx.x + round;
        )" + between + R"(
        b[threadIdx.x] = s[127 - threadIdx.x];
        __syncthreads();
      }
    })";
}

TEST(SharedRaces, AreSeenWithoutABarrierOnly) {
  const LaunchShape shape{.grid = 2, .block = 128};
  const std::string source = "threadIdx.x + round";
  const auto by_block = [](std::string text) { return text.replace(text.find("b[threadIdx.x]"), 14, "b[blockIdx.x * 128 + threadIdx.x]"); };
  expect_verdict(Verdict::clean, by_block(reverse("__syncthreads();")), shape, 256);
  expect_verdict(Verdict::race, by_block(reverse("")), shape, 256);
  expect_verdict(Verdict::race, by_block(reverse("__syncwarp();")), shape, 256);
  expect_verdict(Verdict::race, by_block(reverse("asm volatile(\"bar.sync %0, 64;\" :: \"r\"(1 + threadIdx.x / 64) : \"memory\");")), shape, 256);
}

std::string hand_over(const std::string& full, const std::string& empty) {
  return R"(
    extern "C" __global__ void kernel(unsigned* a, unsigned* b, unsigned* c) {
      __shared__ unsigned slot[32];
      const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      for (unsigned i = 0; i < 4; ++i) {
        if (warp == 0) { slot[lane] = i + lane; )" + full + R"( asm volatile("bar.sync 2, 64;" ::: "memory"); }
        else { asm volatile("bar.sync 1, 64;" ::: "memory"); b[i * 32 + lane] = slot[lane ^ 1]; )" + empty + R"( }
      }
    })";
}

TEST(SharedRaces, KnowNamedBarriersThatOneSideOnlyArrivesAt) {
  const std::string arrive1 = "asm volatile(\"bar.arrive 1, 64;\" ::: \"memory\");", arrive2 = "asm volatile(\"bar.arrive 2, 64;\" ::: \"memory\");";
  expect_verdict(Verdict::clean, hand_over(arrive1, arrive2), {.grid = 1, .block = 64}, 128);
  std::string early = hand_over(arrive1, "");
  early.replace(early.find("b[i * 32"), 0, arrive2);  // released before it is read
  expect_verdict(Verdict::race, early, {.grid = 1, .block = 64}, 128);
}

TEST(SharedRaces, OfMatrixLoadsAreSeen) {
  const auto source = [](const std::string& between) {
    return R"(
    extern "C" __global__ void kernel(unsigned* a, unsigned* b, unsigned* c) {
      __shared__ __align__(16) unsigned s[256];
      s[threadIdx.x] = threadIdx.x + 1;
      )" + between + R"(
      unsigned r0, r1, from = __cvta_generic_to_shared(s + (threadIdx.x ^ 32) * 4 % 256);
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(from));
      b[threadIdx.x] = r0 + r1;
    })";
  };
  expect_verdict(Verdict::clean, source("__syncthreads();"), {.grid = 1, .block = 64}, 64);
  expect_verdict(Verdict::race, source(""), {.grid = 1, .block = 64}, 64);
}

}  // namespace
}  // namespace onelaunch::emu
