#include <gtest/gtest.h>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

TEST(Print, FormatsWhatEachLanePrints) {
  EmulatedKernel kernel(R"(
    extern "C" __global__ void kernel() {
      if (threadIdx.x < 2) printf("lane %d of %s: %.2f %llu %c%%\n", int(threadIdx.x), "warp", 1.5 + threadIdx.x, 1ull << 40, 'x');
    })");
  const LaunchReport report = kernel.run(1, 32, {0});
  expect_no_fault(report);
  EXPECT_EQ(report.printed, "lane 0 of warp: 1.50 1099511627776 x%\nlane 1 of warp: 2.50 1099511627776 x%\n");
}

TEST(Print, StopsAFloodAndSaysSo) {
  EmulatedKernel kernel("extern \"C\" __global__ void kernel() { for (int i = 0; i < 100000; ++i) printf(\"flood flood flood flood %d\\n\", i); }");
  const LaunchReport report = kernel.run(1, 1, {0});
  EXPECT_TRUE(report.printed_truncated);
  EXPECT_LE(report.printed.size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace onelaunch::emu
