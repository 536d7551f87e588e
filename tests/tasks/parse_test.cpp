#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tasks/minimal_task.h"

namespace onelaunch::tasks {
namespace {

using ::testing::ElementsAre;

TEST(ParseTask, ReadsEveryPartOfAFile) {
  const Task task = parsed(minimal_task());
  EXPECT_EQ(task.name, "small");
  EXPECT_EQ(task.variant, "full");
  EXPECT_EQ(task.prose, "First line.\nSecond line.");
  EXPECT_EQ(task.dims.at("hidden"), 256);
  EXPECT_EQ(task.with(Role::weight).size(), 2u * 5);
  EXPECT_EQ(task.with(Role::state).size(), 2u);
  EXPECT_EQ(task.ops.size(), 10u);
  EXPECT_EQ(task.sweep.size(), 1u);
  EXPECT_EQ(task.sha256.size(), 64u);
}

TEST(ParseTask, ExpandsInt4WeightsIntoThreeBuffers) {
  const Task task = parsed(minimal_task());
  EXPECT_THAT(task.find("layer.1.up.packed")->shape, ElementsAre(128, 256));
  EXPECT_THAT(task.find("layer.1.up.scale")->shape, ElementsAre(2, 256));
  EXPECT_EQ(task.find("layer.1.up.packed")->dtype, DType::u8);
  EXPECT_EQ(task.find("layer.1.up.zero")->dtype, DType::bf16);
  EXPECT_EQ(task.find_quantised("layer.1.up")->in, 256);
  EXPECT_EQ(task.find("layer.1.up"), nullptr);
}

TEST(ParseTask, GivesExpertsALeadingDimension) {
  const std::string text = replaced(minimal_task(), R"("int4": {)", R"("int4": {"experts": 3, )");
  const Result<Task> task = parse_task(text, "f", "");
  // The plain op does not take experts: the rule is the op's, and the error names the op.
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, ::testing::HasSubstr("linear_int4"));
}

TEST(ParseTask, ResolvesAliasesAndBlockParameters) {
  const Task task = parsed(minimal_task());
  EXPECT_THAT(task.ops.front().inputs, ElementsAre("token", "layer.0.norm"));
  EXPECT_THAT(task.ops[4].outputs, ElementsAre("x.1"));
  EXPECT_THAT(task.ops[5].inputs, ElementsAre("x.1", "layer.1.norm"));
  EXPECT_THAT(task.ops.back().outputs, ElementsAre("y"));
  EXPECT_EQ(task.ops.front().attributes.at("eps"), 1e-6);
}

TEST(ParseTask, AppliesTheVariantAskedFor) {
  const Task tiny = parsed(minimal_task(), "tiny");
  EXPECT_EQ(tiny.variant, "tiny");
  EXPECT_EQ(tiny.title, "A tiny task");
  EXPECT_EQ(tiny.dims.at("hidden"), 128);
  EXPECT_EQ(tiny.dims.at("kv"), 64);
  EXPECT_EQ(tiny.sweep.front().context, 4);
  EXPECT_NE(tiny.sha256, parsed(minimal_task()).sha256);
}

TEST(ParseTask, MatchesTolerancesByPattern) {
  const Task task = parsed(minimal_task());
  EXPECT_EQ(task.output_tolerance.rel_l2, 0.02);
  EXPECT_EQ(task.tensor_tolerance.at("layer.0.cache").rel_l2, 0.005);
  EXPECT_EQ(task.tensor_tolerance.at("layer.1.cache").rel_l2, 0.005);
  EXPECT_EQ(task.tensor_tolerance.size(), 2u);
}

TEST(ParseTask, ReadsDistributions) {
  const Task task = parsed(minimal_task());
  const Tensor& norm = *task.find("layer.0.norm");
  EXPECT_EQ(norm.nominal.kind, Distribution::Kind::constant);
  EXPECT_EQ(norm.strict.mean, 1);
  EXPECT_EQ(task.find("token")->strict.scale, 1);  // as nominal
  EXPECT_EQ(task.find("layer.0.cache")->nominal.spread, 2);
}

TEST(ParseTask, GivesEveryEntryItsOwnCounter) {
  const Task task = parsed(minimal_task());
  EXPECT_EQ(task.find("layer.0.norm")->id, 1u);
  EXPECT_EQ(task.find_quantised("layer.0.up")->id, 2u);
  EXPECT_EQ(task.find("layer.0.up.zero")->id, 2u);
  EXPECT_EQ(task.find("layer.1.norm")->id, 4u);
  EXPECT_EQ(task.find("token")->id, 9u);
}

TEST(Tensor, CountsCacheRowsByCapacity) {
  const Task task = parsed(minimal_task());
  const Tensor& cache = *task.find("layer.0.cache");
  EXPECT_TRUE(cache.is_cache());
  EXPECT_EQ(cache.elements(10), 640);
  EXPECT_EQ(cache.bytes(10), 1280u);
  EXPECT_FALSE(task.find("token")->is_cache());
}

}  // namespace
}  // namespace onelaunch::tasks
