#include "agent/model/repetition.h"

#include <gtest/gtest.h>

namespace onelaunch::agent {
namespace {

const CallSeen kCall{.name = "compile", .arguments = "{}", .output = "compiled in 0.42 s", .state = "a"};

TEST(RepetitionWatch, WarnsThenForcesThenStopsAtTheSameCallWithTheSameOutcome) {
  RepetitionWatch watch;
  for (int i = 1; i <= 12; ++i) {
    const Repeating expected = i >= 10 ? Repeating::stop : i == 6 ? Repeating::force : i == 3 ? Repeating::warn : Repeating::no;
    EXPECT_EQ(watch.saw(kCall), expected) << i;
    EXPECT_EQ(watch.times(), i);
  }
}

TEST(RepetitionWatch, ForgivesTheSameCallOnAnotherCandidate) {
  RepetitionWatch watch;
  for (int i = 0; i < 30; ++i) {
    CallSeen call = kCall;
    call.state = std::to_string(i);
    EXPECT_EQ(watch.saw(call), Repeating::no);
  }
}

TEST(RepetitionWatch, SeesTwoCallsInTurns) {
  RepetitionWatch watch;
  Repeating worst = Repeating::no;
  for (int i = 0; i < 20; ++i) {
    CallSeen call = kCall;
    call.arguments = i % 2 == 0 ? "{\"a\":1}" : "{\"a\":2}";
    worst = std::max(worst, watch.saw(call));
  }
  EXPECT_EQ(worst, Repeating::stop);
}

TEST(RepetitionWatch, ForgetsWhatIsLongAgo) {
  RepetitionWatch watch;
  int others = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(watch.saw(kCall), Repeating::no) << i;
    for (int k = 0; k < 25; ++k) watch.saw({.name = "read_kernel", .arguments = std::to_string(++others)});
  }
}

TEST(RepetitionWatch, CountsFailingCallsInARow) {
  RepetitionWatch watch;
  for (int i = 1; i <= 24; ++i) {
    const Repeating said = watch.saw({.name = "t", .arguments = std::to_string(i), .output = "no", .state = "", .error = true});
    EXPECT_EQ(said == Repeating::warn, i == RepetitionWatch::kErrorsWarnAt) << i;
    EXPECT_EQ(said == Repeating::stop, i == RepetitionWatch::kErrorsStopAt) << i;
    EXPECT_TRUE(said == Repeating::no || watch.by_errors());
  }
}

TEST(WithoutTimes, MasksDurationsAndAddressesOnly) {
  EXPECT_EQ(without_times("took 12.5 s, 0.4ms and 3 us at 0x7f00ab; 96 registers, c17, 12 MB"),
            "took # s, #ms and # us at 0x#; 96 registers, c17, 12 MB");
  EXPECT_EQ(without_times("v1.5s"), "v1.5s");
  EXPECT_EQ(without_times("[00:12:30 used, 01:47:30 left; 34 decisions]"), "[# used, # left; 34 decisions]");
}

}  // namespace
}  // namespace onelaunch::agent
