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
  const EagerPlan plan = eager_plan(task, 32, 40);
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
  for (const EagerLaunch& launch : eager_plan(task, 16384, 16384 + 16).launches) {
    EXPECT_GT(launch.grid, 0u) << launch.op;
    EXPECT_LE(launch.block, 1024u) << launch.op;
    EXPECT_EQ(launch.block % 32, 0u) << launch.op;
    EXPECT_LT(launch.grid, 1u << 31) << launch.op;
  }
}

TEST(EagerPlan, DequantisesOnlyTheChosenExperts) {
  const Task task = library_task("kimi_linear_decode", "full");
  std::size_t largest = 0;
  for (const EagerBuffer& buffer : eager_plan(task, 2048, 2080).buffers) largest = std::max(largest, buffer.bytes);
  EXPECT_EQ(largest, std::size_t{8} * 2304 * 1024 * 2);
}

TEST(EagerPlan, SharesOneKernelBetweenLaunchesOfTheSameShape) {
  const Task task = library_task("kimi_linear_decode", "full");
  const EagerPlan plan = eager_plan(task, 2048, 2080);
  std::set<std::string> entries;
  for (const EagerLaunch& launch : plan.launches) entries.insert(launch.entry);
  EXPECT_LT(entries.size(), plan.launches.size() / 2);
}

}  // namespace
}  // namespace onelaunch::tasks
