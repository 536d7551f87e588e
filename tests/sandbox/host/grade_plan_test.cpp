#include "sandbox/host/grade_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace onelaunch::sandbox {
namespace {

using tasks::InputSet;

tasks::Task a_task() {
  tasks::Task task;
  task.sweep = {{32, 4}, {96, 4}};
  return task;
}
constexpr std::size_t kLight = 1 << 20, kHeavy = kHeavyWeightBytes + 1;

TEST(GradePlan, ChecksEveryContextOnBothInputSetsAndTimesIt) {
  const GradePlan plan = plan_grade(a_task(), kLight, {}, 1);
  ASSERT_EQ(plan.chains.size(), 5u);
  for (const PlannedChain& chain : plan.chains) EXPECT_NE(chain.timed, chain.detect);
  EXPECT_EQ(plan.chains[0].steps, 4);
  EXPECT_EQ(plan.chains[1].context, 96);
  EXPECT_TRUE(plan.chains[2].detect);
  EXPECT_EQ(plan.chains[3].set, InputSet::strict);
  EXPECT_GT(plan.capacity, 100);
}

TEST(GradePlan, DrawsDifferentSeedsForEveryChain) {
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t seed : {1, 2})
    for (const PlannedChain& chain : plan_grade(a_task(), kLight, {}, seed).chains) seeds.insert(chain.seed);
  EXPECT_EQ(seeds.size(), 10u);
}

TEST(GradePlan, IsShortWhenQuickAndOneStepAContextWhenHeavy) {
  const GradePlan quick = plan_grade(a_task(), kLight, {.check = Check::quick}, 1);
  ASSERT_EQ(quick.chains.size(), 1u);
  EXPECT_EQ(quick.chains[0].context, 32);
  EXPECT_EQ(quick.chains[0].steps, 2);
  const GradePlan heavy = plan_grade(a_task(), kHeavy, {}, 1);
  ASSERT_EQ(heavy.chains.size(), 3u);
  for (const PlannedChain& chain : heavy.chains) EXPECT_EQ(chain.steps, 1);
}

TEST(GradePlan, LooksForRacesInHeavyTasksOnlyWhenAsked) {
  const auto detects = [](const GradeRequest& request) {
    int chains = 0;
    for (const PlannedChain& chain : plan_grade(a_task(), kHeavy, request, 1).chains) chains += chain.detect ? 1 : 0;
    return chains;
  };
  EXPECT_EQ(detects({}), 0);
  EXPECT_EQ(detects({.detect = true}), 1);
}

// The first chain on a set of weights finds sync reset. The next ones go on where it ended, with other states.
TEST(GradePlan, LinksChainsOnTheSameWeights) {
  const auto linked = [](const std::vector<PlannedChain>& chains) {
    std::vector<bool> all;
    for (const PlannedChain& chain : chains) all.push_back(chain.linked);
    return all;
  };
  EXPECT_EQ(linked(plan_grade(a_task(), kLight, {}, 1).chains), (std::vector<bool>{false, true, false, false, true}));
  EXPECT_EQ(linked(plan_grade(a_task(), kHeavy, {}, 1).chains), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(linked(plan_gpu_grade(a_task(), {}, 1).chains),
            (std::vector<bool>{false, true, false, true, false, true, false, true}));
}

TEST(GradePlan, SpreadsAGpusChainsOverSeedsAndOddContexts) {
  const GpuGradePlan plan = plan_gpu_grade(a_task(), {}, 1);
  ASSERT_EQ(plan.chains.size(), 8u);
  EXPECT_EQ(plan.contexts, (std::vector<std::int64_t>{32, 96}));
  for (const PlannedChain& chain : plan.chains) {
    EXPECT_GT(chain.capacity, chain.context + chain.steps);
    EXPECT_LE(chain.capacity, plan.capacity);
    EXPECT_TRUE(chain.set == InputSet::strict || chain.context == 32 || chain.context == 96);
  }
  EXPECT_EQ(plan_gpu_grade(a_task(), {.check = Check::quick}, 1).chains.size(), 2u);
}

TEST(GradePlan, TakesContextsAndSchedulesAsAsked) {
  const GradePlan plan = plan_grade(a_task(), kLight, {.contexts = {50}, .schedules = 3}, 1);
  ASSERT_EQ(plan.chains.size(), 5u);
  EXPECT_EQ(plan.chains[0].context, 50);
  EXPECT_EQ(plan.chains[0].schedule_seed, 0u);
  EXPECT_NE(plan.chains[1].schedule_seed, 0u);
  EXPECT_NE(plan.chains[1].schedule_seed, plan.chains[2].schedule_seed);
  EXPECT_FALSE(plan.chains[1].timed);
}

}  // namespace
}  // namespace onelaunch::sandbox
