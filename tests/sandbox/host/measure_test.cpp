#include "sandbox/host/measure.h"

#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

LaunchResult launch(double us, int phases) {
  LaunchResult result;
  result.total.us = us;
  result.total.dram_bytes = 2'000'000;
  result.total.warp_instructions = 10;
  result.phases.assign(static_cast<std::size_t>(phases), {"dram", us / phases, 1'000'000, 5});
  return result;
}

TEST(Measurements, TakeTheLastStepAndSumItsLaunches) {
  const Measurement time = measurement_of(32, {{launch(5, 1)}, {launch(3, 2), launch(4, 1)}});
  EXPECT_EQ(time.context, 32);
  EXPECT_EQ(time.n, 2);
  EXPECT_DOUBLE_EQ(time.us_median, 7);
  EXPECT_DOUBLE_EQ(time.us_low, 5);
  EXPECT_DOUBLE_EQ(time.us_high, 7);
  EXPECT_EQ(time.phases.size(), 3u);
  EXPECT_EQ(time.barriers, 1u);
  EXPECT_DOUBLE_EQ(time.dram_mb, 4);
  EXPECT_EQ(time.warp_instructions, 20u);
}

TEST(Measurements, AreReplacedByStrictOnesThatCostMore) {
  std::vector<Measurement> times{measurement_of(32, {{launch(100, 1)}}), measurement_of(96, {{launch(100, 1)}})};
  apply_strict(times, measurement_of(32, {{launch(101, 1)}}));
  EXPECT_DOUBLE_EQ(times[0].us_median, 100);
  apply_strict(times, measurement_of(96, {{launch(150, 1)}}));
  EXPECT_DOUBLE_EQ(times[0].us_median, 100);
  EXPECT_DOUBLE_EQ(times[1].us_median, 150);
}

TEST(Score, IsTheGeometricMeanOverContexts) {
  EXPECT_DOUBLE_EQ(score_us({measurement_of(1, {{launch(2, 1)}}), measurement_of(2, {{launch(8, 1)}})}), 4);
}

}  // namespace
}  // namespace onelaunch::sandbox
