#include "agent/loop/keep_rule.h"

#include <gtest/gtest.h>

namespace onelaunch::agent {
namespace {

std::vector<sandbox::Measurement> times(const std::vector<double>& us) {
  std::vector<sandbox::Measurement> list;
  for (std::size_t i = 0; i < us.size(); ++i) {
    sandbox::Measurement time;
    time.context = static_cast<std::int64_t>(1024 * (i + 1));
    time.us_median = us[i];
    list.push_back(time);
  }
  return list;
}

TEST(KeepRule, KeepsAGainAboveTheLeastOne) {
  const KeepDecision decision = decide_modelled(times({100, 200}), times({99, 198}), 0.003);
  EXPECT_TRUE(decision.keep);
  EXPECT_NEAR(decision.ratio, 100.0 / 99, 1e-12);
}

TEST(KeepRule, RevertsAGainThatIsTooSmall) { EXPECT_FALSE(decide_modelled(times({100}), times({99.8}), 0.003).keep); }

TEST(KeepRule, RevertsTheSameTimeEvenWhenNoGainIsAsked) {
  EXPECT_FALSE(decide_modelled(times({100}), times({100}), 0).keep);
  EXPECT_TRUE(decide_modelled(times({100}), times({99.99}), 0).keep);
}

TEST(KeepRule, RevertsAGainThatOneContextPaysFor) {
  const KeepDecision decision = decide_modelled(times({100, 100}), times({80, 101}), 0.003);
  EXPECT_FALSE(decision.keep);
  EXPECT_NE(decision.reason.find("context 2048"), std::string::npos) << decision.reason;
}

TEST(KeepRule, RevertsWhenAContextIsMissing) {
  EXPECT_FALSE(decide_modelled(times({100, 100}), times({50}), 0.003).keep);
  EXPECT_FALSE(decide_modelled(times({100}), {}, 0.003).keep);
}

TEST(Screen, DecidesOnlyWhenAContextLosesTooMuch) {
  EXPECT_FALSE(screen_modelled(times({100, 200}), times({100.4})));
  const auto decision = screen_modelled(times({100, 200}), times({125}));
  ASSERT_TRUE(decision);
  EXPECT_FALSE(decision->keep);
  EXPECT_NEAR(decision->ratio, 0.8, 1e-12);
}

TEST(Screen, NeverLetsGoWhatTheKeepRuleWouldKeep) {
  const auto incumbent = times({100, 200});
  for (double first = 90; first < 110; first += 0.25)
    for (const double second : {100.0, 199.0, 201.0})
      if (decide_modelled(incumbent, times({first, second}), 0.003).keep) {
        EXPECT_FALSE(screen_modelled(incumbent, times({first}))) << first;
      }
}

}  // namespace
}  // namespace onelaunch::agent
