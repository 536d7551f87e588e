#include "agent/loop/measurement_events.h"

#include <gtest/gtest.h>

#include <cmath>

namespace onelaunch::agent {
namespace {

sandbox::Measurement measured(double strict_over_nominal) {
  sandbox::Measurement time;
  time.modelled = false;
  time.context = 2048;
  time.us_median = 100;
  time.device = sandbox::DeviceTimes{.token_loop_us = 97, .strict_over_nominal = strict_over_nominal};
  return time;
}

TEST(MeasurementEvents, NameWhatThrottledTheGpu) {
  EXPECT_EQ(throttle_names(0), "");
  EXPECT_EQ(throttle_names(0x1), "") << "idle is no throttling";
  EXPECT_EQ(throttle_names(0x4 | 0x20 | 0x80), "sw_power_cap, sw_thermal, hw_power_brake");
}

TEST(MeasurementEvents, SayTheTimeOnStrictInputs) {
  EXPECT_DOUBLE_EQ(*primary_event("c1", measured(1.01)).strict_us, 101);
  EXPECT_DOUBLE_EQ(*primary_event("c1", measured(1.5)).strict_us, 100) << "then they are the score already";
}

TEST(MeasurementEvents, LeaveOutWhatIsNotKnown) {
  const traces::Measurement event = primary_event("c1", measured(NAN));
  EXPECT_FALSE(event.strict_us);
  EXPECT_FALSE(event.wall_us);
  EXPECT_FALSE(event.launches);
  EXPECT_FALSE(event.sm_clock_mhz);
  EXPECT_EQ(event.token_loop_us, 97);
  sandbox::Measurement modelled;
  EXPECT_FALSE(primary_event("c1", modelled).strict_us);
}

TEST(MeasurementEvents, HoldEveryPairAndHowManyCount) {
  const sandbox::PairedTimes pairs{.context = 96, .candidate_us = {10, 11, 12}, .against_us = {20, 21, 22}};
  WorkerGain gain;
  gain.contexts = {{.context = 96, .gain = 0.7, .error = 0, .n = 2, .discarded = 1}};
  const traces::Measurement event = paired_event("c2", "c1", 3, pairs, gain);
  EXPECT_EQ(event.timing, "paired");
  EXPECT_EQ(event.against, "c1");
  EXPECT_EQ(event.worker, 3);
  EXPECT_EQ(event.raw, pairs.candidate_us);
  EXPECT_EQ(event.raw_against, pairs.against_us);
  EXPECT_EQ(event.n, 2);
  EXPECT_EQ(event.discarded, 1);
  EXPECT_EQ(event.us_median, 11);
  EXPECT_LE(event.us_low, 11);
  EXPECT_GE(event.us_high, 11);
}

}  // namespace
}  // namespace onelaunch::agent
