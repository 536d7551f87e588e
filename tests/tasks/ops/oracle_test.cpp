#include "tasks/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/tasks/ops/chain.h"

namespace onelaunch::tasks {
namespace {

const Chain& tiny_kimi() {
  static const Chain chain("kimi_linear_decode", "tiny", InputSet::nominal, 32);
  return chain;
}

TEST(Oracle, GivesTheSameBitsOnAnyNumberOfThreads) {
  Oracle one = tiny_kimi().oracle(1), three = tiny_kimi().oracle(3);
  for (int step = 0; step < 3; ++step)
    EXPECT_EQ(one.step(tiny_kimi().token(step)).outputs, three.step(tiny_kimi().token(step)).outputs);
  EXPECT_EQ(one.states(), three.states());
}

TEST(Oracle, ChangesNothingWhenAskedForAMargin) {
  Oracle oracle = tiny_kimi().oracle(2);
  oracle.margin(tiny_kimi().token(5), 0);
  EXPECT_EQ(oracle.states(), tiny_kimi().states);
  EXPECT_EQ(oracle.position(), 32);
  EXPECT_EQ(oracle.step(tiny_kimi().token(0)).outputs, tiny_kimi().oracle(2).step(tiny_kimi().token(0)).outputs);
}

TEST(Oracle, FindsTheSmallestMarginOfAllRoutedLayers) {
  Oracle oracle = tiny_kimi().oracle(2);
  const double least = oracle.margin(tiny_kimi().token(0), 0);
  const std::vector<double> margins = oracle.step(tiny_kimi().token(0)).margins;
  ASSERT_EQ(margins.size(), 4u);
  EXPECT_EQ(least, *std::min_element(margins.begin(), margins.end()));
}

TEST(Oracle, StopsAtTheFirstMarginThatIsTooSmall) {
  Oracle oracle = tiny_kimi().oracle(2);
  const double first = oracle.margin(tiny_kimi().token(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(first, oracle.step(tiny_kimi().token(0)).margins.front());
  EXPECT_GT(first, 0);
}

TEST(Oracle, HasNoMarginWithoutRouting) {
  const Chain chain("rmsnorm_linear", "tiny", InputSet::nominal, 0);
  EXPECT_EQ(chain.oracle(1).margin(chain.token(0), 1), std::numeric_limits<double>::infinity());
}

TEST(Oracle, LeavesOldCacheRowsAndRowsBeyondThePositionAlone) {
  Oracle oracle = tiny_kimi().oracle(2);
  oracle.step(tiny_kimi().token(0));
  const auto tensors = tiny_kimi().task.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i]->is_cache()) continue;
    const std::size_t row = tensors[i]->bytes(1);
    Bytes now = oracle.states()[i];
    const auto fresh = now.begin() + 32 * static_cast<std::ptrdiff_t>(row);
    EXPECT_NE(Bytes(fresh, fresh + static_cast<std::ptrdiff_t>(row)), Bytes(row)) << tensors[i]->name;
    std::fill(fresh, fresh + static_cast<std::ptrdiff_t>(row), std::byte{0});
    EXPECT_EQ(now, tiny_kimi().states[i]) << tensors[i]->name;
  }
}

TEST(Oracle, NamesEveryResultWhenProbesAreWanted) {
  Oracle oracle = tiny_kimi().oracle(1);
  const OracleStep step = oracle.step(tiny_kimi().token(0), true);
  for (const auto& [name, value] : tiny_kimi().task.values) {
    ASSERT_TRUE(step.probes.contains(name)) << name;
    const Operand result{.name = name, .shape = value.shape};
    EXPECT_EQ(std::ssize(step.probes.at(name)), result.elements());
  }
  EXPECT_TRUE(step.probes.contains("hidden_out"));
  EXPECT_TRUE(oracle.step(tiny_kimi().token(1)).probes.empty());
}

TEST(DrawToken, RepeatsTheDrawUntilNoChoiceIsClose) {
  Oracle oracle = tiny_kimi().oracle(2);
  int repeated = 0;
  for (int step = 0; step < 6; ++step) {
    const Result<DrawnToken> drawn = draw_token(oracle, tiny_kimi().task, 11, InputSet::nominal, step);
    ASSERT_TRUE(drawn);
    repeated += drawn->draw > 0;
    for (const double margin : oracle.step(drawn->token).margins) EXPECT_GE(margin, kRoutingMargin);
  }
  EXPECT_GT(repeated, 0);
}

}  // namespace
}  // namespace onelaunch::tasks
