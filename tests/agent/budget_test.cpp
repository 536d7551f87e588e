#include "agent/loop/budget.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"

namespace onelaunch::agent {
namespace {

TEST(ParseWall, ReadsHoursMinutesAndSecondsTogether) {
  EXPECT_DOUBLE_EQ(parse_wall("3h")->count(), 10800);
  EXPECT_DOUBLE_EQ(parse_wall("1h30m")->count(), 5400);
  EXPECT_DOUBLE_EQ(parse_wall("2.5s")->count(), 2.5);
  EXPECT_DOUBLE_EQ(parse_wall("90")->count(), 90);
}

TEST(ParseWall, RefusesZeroAndNonsense) {
  for (const char* text : {"0", "0s", "", "-5m", "abc", "5x", "nan", "inf", "1e9h", "h", "999d", "5m "}) {
    const auto wall = parse_wall(text);
    ASSERT_FALSE(wall) << text;
    EXPECT_EQ(wall.error().kind, Error::Kind::invalid_input);
  }
}

TEST(ParseGain, ReadsPercentAndFraction) {
  EXPECT_DOUBLE_EQ(*parse_gain("0.3%"), 0.003);
  EXPECT_DOUBLE_EQ(*parse_gain("0.003"), 0.003);
  EXPECT_DOUBLE_EQ(*parse_gain("0"), 0);
  EXPECT_FALSE(parse_gain("-1%"));
  EXPECT_FALSE(parse_gain("100%"));
  EXPECT_FALSE(parse_gain("fast"));
}

TEST(PrintDuration, KeepsTwoUnits) {
  EXPECT_EQ(print_duration(Seconds(4.25)), "4.2s");
  EXPECT_EQ(print_duration(Seconds(59.7)), "1m00s");
  EXPECT_EQ(print_duration(Seconds(125)), "2m05s");
  EXPECT_EQ(print_duration(Seconds(3720)), "1h02m");
}

TEST(Budget, KeepsTenSecondsOfTwoMinutesForTheClosing) {
  fakes::FakeClock clock;
  const Budget budget(clock, Seconds(120), Seconds(0));
  EXPECT_DOUBLE_EQ(budget.reserve().count(), 10);
  EXPECT_DOUBLE_EQ(budget.left_for_work().count(), 110);
}

TEST(Budget, KeepsFivePercentOfALongCap) {
  fakes::FakeClock clock;
  EXPECT_DOUBLE_EQ(Budget(clock, Seconds(10800), Seconds(0)).reserve().count(), 540);
}

TEST(Budget, KeepsThreeTimesTheLongestGrade) {
  fakes::FakeClock clock;
  Budget budget(clock, Seconds(120), Seconds(0));
  budget.saw_full_grade(Seconds(8));
  budget.saw_full_grade(Seconds(5));
  EXPECT_DOUBLE_EQ(budget.reserve().count(), 24);
}

TEST(Budget, LeavesASmallCapMostOfItsTime) {
  fakes::FakeClock clock;
  Budget budget(clock, Seconds(5), Seconds(0));
  EXPECT_DOUBLE_EQ(budget.reserve().count(), 1.25);
  budget.saw_full_grade(Seconds(100));
  EXPECT_DOUBLE_EQ(budget.reserve().count(), 2.5);
}

TEST(Budget, CountsWhatEarlierLegsSpent) {
  fakes::FakeClock clock;
  const Budget budget(clock, Seconds(120), Seconds(100));
  clock.advance(4);
  EXPECT_DOUBLE_EQ(budget.spent().count(), 104);
  EXPECT_DOUBLE_EQ(budget.left_for_work().count(), 6);
  clock.advance(50);
  EXPECT_DOUBLE_EQ(budget.left_for_work().count(), 0);
  EXPECT_TRUE(budget.end().passed(clock));
}

TEST(Budget, KeepsTimeForNewWeightsAndTwoGrades) {
  fakes::FakeClock clock;
  Budget budget(clock, Seconds(1000), Seconds(0));
  budget.saw_full_grade(Seconds(20));
  EXPECT_DOUBLE_EQ(budget.reserve().count(), 60);
  budget.saw_set_up(Seconds(30));
  EXPECT_DOUBLE_EQ(budget.reserve().count(), 70);
}

}  // namespace
}  // namespace onelaunch::agent
