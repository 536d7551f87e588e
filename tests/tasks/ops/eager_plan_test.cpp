#include "tasks/eager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/tasks/ops/chain.h"

namespace onelaunch::tasks {
namespace {

std::set<std::string> buffers_of(const Task& task, const EagerPlan& plan) {
  std::set<std::string> names;
  for (const Tensor& tensor : task.tensors) names.insert(tensor.name);
  for (const EagerBuffer& buffer : plan.buffers) EXPECT_TRUE(names.insert(buffer.name).second) << buffer.name;
  return names;
}

TEST(EagerPlan, LaunchesEveryOpInOrderOnBuffersThatExist) {
  const Task task = library_task("kimi_linear_decode", "tiny");
  const EagerPlan plan = eager_plan(task, 40);
  const std::set<std::string> known = buffers_of(task, plan);
  std::vector<std::string> order;
  for (const EagerLaunch& launch : plan.launches) {
    if (order.empty() || order.back() != launch.op) order.push_back(launch.op);
    for (const EagerArgument& argument : launch.arguments) {
      if (argument.kind == EagerArgument::Kind::buffer) {
        EXPECT_TRUE(known.contains(argument.buffer)) << argument.buffer;
      }
    }
  }
  std::vector<std::string> ops;
  for (const Op& op : task.ops) ops.push_back(op.name);
  EXPECT_EQ(order, ops);
}

TEST(EagerPlan, FitsTheGridsOfADevice) {
  const Task task = library_task("kimi_linear_decode", "full");
  for (const EagerLaunch& launch : eager_plan(task, 16384 + 16).launches) {
    EXPECT_GT(launch.grid, 0u) << launch.op;
    EXPECT_LE(launch.block, 1024u) << launch.op;
    EXPECT_EQ(launch.block % 32, 0u) << launch.op;
    EXPECT_LT(launch.grid, 1u << 31) << launch.op;
  }
}

TEST(EagerPlan, DequantisesOnlyTheChosenExperts) {
  const Task task = library_task("kimi_linear_decode", "full");
  std::size_t largest = 0;
  for (const EagerBuffer& buffer : eager_plan(task, 2080).buffers) largest = std::max(largest, buffer.bytes);
  EXPECT_EQ(largest, std::size_t{8} * 2304 * 1024 * 2);
}

TEST(EagerPlan, SharesOneKernelBetweenLaunchesOfTheSameShape) {
  const Task task = library_task("kimi_linear_decode", "full");
  const EagerPlan plan = eager_plan(task, 2080);
  std::set<std::string> entries;
  for (const EagerLaunch& launch : plan.launches) entries.insert(launch.entry);
  EXPECT_LT(entries.size(), plan.launches.size() / 2);
}

TEST(EagerPlan, HasOneSourceForEveryCapacity) {
  for (const char* name : {"kimi_linear_decode", "llama_block_decode", "rmsnorm_linear"}) {
    const Task task = library_task(name, "full");
    const EagerPlan large = eager_plan(task, 16416), small = eager_plan(task, 8);
    EXPECT_EQ(large.source, small.source);
    ASSERT_EQ(large.launches.size(), small.launches.size());
    for (std::size_t i = 0; i < large.launches.size(); ++i) {
      EXPECT_EQ(large.launches[i].entry, small.launches[i].entry);
      EXPECT_EQ(large.launches[i].block, small.launches[i].block);
    }
  }
}

// One wave of blocks must hold a fair share of the work: nothing but the router's choice may run on a few of them.
TEST(EagerPlan, DividesWhatGrowsWithTheContext) {
  const Task task = library_task("kimi_linear_decode", "full");
  const EagerPlan large = eager_plan(task, 16416), small = eager_plan(task, 2080);
  int growing = 0;
  for (std::size_t i = 0; i < large.launches.size(); ++i)
    growing += large.launches[i].grid > 4 * small.launches[i].grid;
  EXPECT_EQ(growing, 2) << "the scores, and the weighted sum of the rows";
}

TEST(EagerPlan, SaysWhereTheLogitsOfEveryRoutedLayerLie) {
  const Task task = library_task("kimi_linear_decode", "full");
  const EagerPlan plan = eager_plan(task, 2080);
  ASSERT_EQ(plan.routings.size(), 4u);
  for (std::size_t layer = 0; layer < 4; ++layer) {
    const EagerRouting& routing = plan.routings[layer];
    EXPECT_EQ(routing.logits, "moe." + std::to_string(layer) + ".logits");
    EXPECT_EQ(routing.dtype, DType::bf16);
    EXPECT_EQ(routing.experts, 64);
    EXPECT_EQ(routing.k, 8);
    const auto written = std::ranges::count_if(plan.launches, [&](const EagerLaunch& launch) {
      return !launch.arguments.empty() && launch.op == routing.logits;
    });
    EXPECT_EQ(written, 1) << "of one launch, so that the logits are there at the end of the token";
    ASSERT_GT(routing.launches, 0u);
    EXPECT_EQ(plan.launches[routing.launches - 1].op, routing.logits) << "the last launch before the choice";
  }
  EXPECT_TRUE(eager_plan(library_task("llama_block_decode", "full"), 136).routings.empty());
}

}  // namespace
}  // namespace onelaunch::tasks
