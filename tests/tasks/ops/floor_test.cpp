#include "tasks/floor.h"

#include <gtest/gtest.h>

#include "tests/tasks/ops/chain.h"

namespace onelaunch::tasks {
namespace {

TEST(Floor, CountsTheBytesOfAKimiTokenFromTheGraphAlone) {
  const Task task = library_task("kimi_linear_decode", "full");
  EXPECT_NEAR(token_cost(task, 2048).bytes() / 1e6, 243.37, 0.05);
  EXPECT_NEAR(token_cost(task, 8192).bytes() / 1e6, 250.45, 0.05);
  EXPECT_NEAR(token_cost(task, 16384).bytes() / 1e6, 259.89, 0.05);
}

TEST(Floor, CountsStatesOnceReadAndOnceWritten) {
  const Task task = library_task("kimi_linear_decode", "full");
  EXPECT_NEAR(token_cost(task, 2048).bytes_written / 1e6, 6.51, 0.01);
}

TEST(Floor, CountsOnlyTheChosenExperts) {
  const Task task = library_task("kimi_linear_decode", "full");
  double routed = 0, shared = 0;
  for (const OpCost& entry : op_costs(task, 2048)) {
    if (entry.op == "moe.0.routed") routed = entry.cost.bytes();
    if (entry.op == "moe.0.shared") shared = entry.cost.bytes();
  }
  EXPECT_NEAR(shared / 1e6, 3.760, 0.001);
  EXPECT_DOUBLE_EQ(routed, 8 * shared);
}

TEST(Floor, GrowsByOneRowOfEveryCacheForEachCachedToken) {
  const Task kimi = library_task("kimi_linear_decode", "full"), llama = library_task("llama_block_decode", "full");
  EXPECT_DOUBLE_EQ(token_cost(kimi, 101).bytes() - token_cost(kimi, 100).bytes(), (512 + 64) * 2);
  EXPECT_DOUBLE_EQ(token_cost(llama, 101).bytes() - token_cost(llama, 100).bytes(), 2 * 2 * 128 * 2);
}

TEST(Floor, CountsTheFlopsOfAMatrixTimesAVector) {
  const Task task = library_task("rmsnorm_linear", "full");
  EXPECT_DOUBLE_EQ(token_cost(task, 0).flops, 2.0 * 2048 * 2048 + 4 * 2048);
  EXPECT_DOUBLE_EQ(token_cost(task, 0).bytes(), (2048.0 * 2048 + 2048) * 2);
}

// Two for each weight that a token uses, and 32 heads over 576 + 512 values a cached row.
TEST(Floor, CountsAttentionAbsorbed) {
  const Task task = library_task("kimi_linear_decode", "full");
  const double row = token_cost(task, 2049).flops - token_cost(task, 2048).flops;
  EXPECT_NEAR(row, 2.0 * 32 * (576 + 512), 0.01 * row);
  EXPECT_NEAR(token_cost(task, 0).flops / 1e9, 2 * 226.03e6 / 0.53125 / 1e9, 0.02);
}

}  // namespace
}  // namespace onelaunch::tasks
