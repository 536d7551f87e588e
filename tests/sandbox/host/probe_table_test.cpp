#include "sandbox/host/probe_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/host/profiler.h"
#include "tasks/catalog.h"

namespace onelaunch::sandbox {
namespace {

TEST(ProbeNames, TheNearestComeFirst) {
  const std::vector<std::string> names{"kda.0.xn", "kda.1.xn", "moe.0.h", "moe.0.hn"};
  EXPECT_THAT(nearest_names("kda.0.nx", names, 1), testing::ElementsAre("kda.0.xn"));
  EXPECT_EQ(nearest_names("moe.0.hm", names, 2).size(), 2u);
  EXPECT_EQ(nearest_names("", {}, 3).size(), 0u);
}

TEST(ProbeTable, WithoutAProbeThereIsNothingToCompare) {
  const auto task = tasks::load_task("rmsnorm_linear", "tiny");
  ASSERT_TRUE(task);
  const ProbeTable table(*task);
  const auto compared = table.compare(table.initial(), {{"xn", std::vector<double>(256, 1)}});
  ASSERT_TRUE(std::holds_alternative<std::vector<ProbeResult>>(compared));
  EXPECT_TRUE(std::get<std::vector<ProbeResult>>(compared).empty());
}

TEST(PhaseFloor, ANameThatIsAnOpsSaysWhatMustBeMoved) {
  const auto task = tasks::load_task("llama_block_decode", "");
  ASSERT_TRUE(task);
  const auto one = floor_mb_of(task->ops.at(1).name, *task, 128);
  ASSERT_TRUE(one) << task->ops.at(1).name;
  EXPECT_GT(*one, 0);
  const std::string first = task->ops.at(1).name, second = task->ops.at(2).name;
  const auto both = floor_mb_of(first + "+" + second, *task, 128), other = floor_mb_of(second, *task, 128);
  ASSERT_TRUE(both && other);
  EXPECT_DOUBLE_EQ(*both, *one + *other);
}

TEST(PhaseFloor, AnotherNameSaysNothing) {
  const auto task = tasks::load_task("llama_block_decode", "");
  ASSERT_TRUE(task);
  EXPECT_FALSE(floor_mb_of("my phase", *task, 128));
  EXPECT_FALSE(floor_mb_of("", *task, 128));
  EXPECT_FALSE(floor_mb_of(task->ops.at(1).name + "+nothing", *task, 128));
}

}  // namespace
}  // namespace onelaunch::sandbox
