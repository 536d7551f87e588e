// Single ops on values that can be worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tasks/ops/run.h"
#include "tests/tasks/ops/small_task.h"

namespace onelaunch::tasks {
namespace {

using Values = std::vector<double>;

// Evaluates the last op of a task whose inputs are all results or inputs.
struct Evaluation {
  std::vector<Values> out;
  double margin = -1;
};
Evaluation evaluate(SmallTask& small, std::vector<Values> in, std::int64_t position = 0) {
  EXPECT_TRUE(infer_shapes(small.task));
  const OpView view = view_of(small.task, small.task.ops.back());
  ThreadPool pool(1);
  Evaluation result;
  std::vector<Storage> sources, targets;
  for (Values& values : in)
    sources.push_back({.values = values, .bytes = {}, .writable = {}, .packed = {}, .scale = {}, .zero = {}});
  for (const Operand& operand : view.out) result.out.emplace_back(static_cast<std::size_t>(operand.elements()));
  for (Values& values : result.out)
    targets.push_back({.values = values, .bytes = {}, .writable = {}, .packed = {}, .scale = {}, .zero = {}});
  OpRun run(view, {.position = position, .pool = &pool}, std::move(sources), std::move(targets));
  view.kind->evaluate(run);
  result.margin = run.margin;
  return result;
}

TEST(TopkRouting, GivesTiesToTheLowerIndex) {
  SmallTask small;
  small.input("logits", 5).op("topk_routing", {"logits"}, {"ids", "weights"}, {{"k", 2}});
  const Evaluation chosen = evaluate(small, {{1, 3, 0, 3, 3}});
  EXPECT_EQ(chosen.out[0], (Values{1, 3}));
  EXPECT_EQ(chosen.margin, 0);
}

TEST(TopkRouting, WeighsTheChosenByTheirShare) {
  SmallTask small;
  small.input("logits", 3).op("topk_routing", {"logits"}, {"ids", "weights"}, {{"k", 2}, {"eps", 0.5}, {"scale", 2}});
  const Evaluation chosen = evaluate(small, {{std::log(1.0), std::log(6.0), std::log(3.0)}});
  EXPECT_EQ(chosen.out[0], (Values{1, 2}));
  EXPECT_NEAR(chosen.out[1][0], 0.6 / (0.9 + 0.5) * 2, 1e-15);
  EXPECT_NEAR(chosen.out[1][1], 0.3 / (0.9 + 0.5) * 2, 1e-15);
  EXPECT_NEAR(chosen.margin, std::log(3.0), 1e-15);
}

TEST(TopkRouting, HasNoMarginWhenAllAreChosen) {
  SmallTask small;
  small.input("logits", 2).op("topk_routing", {"logits"}, {"ids", "weights"}, {{"k", 2}});
  EXPECT_EQ(evaluate(small, {{1, 1}}).margin, INFINITY);
}

TEST(Rope, TurnsNeighboursByTheirAngle) {
  SmallTask small;
  small.input("x", 6).op("rope_pairs", {"x"}, {"y"}, {{"heads", 1}, {"theta", 100}, {"rotated", 4}});
  const Values y = evaluate(small, {{5, 6, 1, 0, 0, 1}}, 3).out[0];
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 6);
  EXPECT_NEAR(y[2], std::cos(3.0), 1e-15);
  EXPECT_NEAR(y[3], std::sin(3.0), 1e-15);
  EXPECT_NEAR(y[4], -std::sin(0.3), 1e-15);
  EXPECT_NEAR(y[5], std::cos(0.3), 1e-15);
}

TEST(Rope, TurnsHalvesOfEveryHead) {
  SmallTask small;
  small.input("x", 8).op("rope_half", {"x"}, {"y"}, {{"heads", 2}, {"theta", 100}});
  const Values y = evaluate(small, {{1, 0, 0, 0, 0, 0, 0, 1}}, 2).out[0];
  EXPECT_NEAR(y[0], std::cos(2.0), 1e-15);
  EXPECT_NEAR(y[2], std::sin(2.0), 1e-15);
  EXPECT_NEAR(y[5], -std::sin(0.2), 1e-15);
  EXPECT_NEAR(y[7], std::cos(0.2), 1e-15);
}

TEST(Rope, DoesNothingAtPositionZero) {
  SmallTask small;
  small.input("x", 4).op("rope_half", {"x"}, {"y"}, {{"heads", 1}, {"theta", 10000}});
  EXPECT_EQ(evaluate(small, {{1, 2, 3, 4}}).out[0], (Values{1, 2, 3, 4}));
}

TEST(Slice, TakesTheNamedElements) {
  SmallTask small;
  small.input("x", 5).op("slice", {"x"}, {"y"}, {{"begin", 1}, {"size", 3}});
  EXPECT_EQ(evaluate(small, {{0, 1, 2, 3, 4}}).out[0], (Values{1, 2, 3}));
}

TEST(SiluMul, GatesOneVectorByAnother) {
  SmallTask small;
  small.input("a", 2).input("b", 2).op("silu_mul", {"a", "b"}, {"y"});
  const Values y = evaluate(small, {{0, 1}, {7, 2}}).out[0];
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 2 / (1 + std::exp(-1.0)), 1e-15);
}

}  // namespace
}  // namespace onelaunch::tasks
