#include "agent/loop/time_meter.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"

namespace onelaunch::agent {
namespace {

double sum(const std::map<std::string, double>& totals) {
  double all = 0;
  for (const auto& [kind, seconds] : totals) all += seconds;
  return all;
}

TEST(TimeMeter, ChargesEverySecondToExactlyOneKind) {
  fakes::FakeClock clock;
  TimeMeter meter(clock);
  clock.advance(1);
  {
    const Spending gate(meter, Spent::gate);
    clock.advance(2);
    {
      const Spending compile(meter, Spent::compile);
      clock.advance(4);
    }
    clock.advance(8);
  }
  clock.advance(16);
  const auto totals = meter.totals();
  EXPECT_DOUBLE_EQ(totals.at("gate"), 10);
  EXPECT_DOUBLE_EQ(totals.at("compile"), 4);
  EXPECT_DOUBLE_EQ(totals.at("idle"), 17);
  EXPECT_DOUBLE_EQ(sum(totals), 31);
  EXPECT_EQ(totals.size(), kSpentKinds);
}

TEST(TimeMeter, MovesNoMoreThanThereIs) {
  fakes::FakeClock clock;
  TimeMeter meter(clock);
  const Spending gate(meter, Spent::gate);
  clock.advance(3);
  meter.move(Spent::gate, Spent::measure, 100);
  EXPECT_DOUBLE_EQ(meter.totals().at("measure"), 3);
  EXPECT_DOUBLE_EQ(sum(meter.totals()), 3);
}

}  // namespace
}  // namespace onelaunch::agent
