#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/tasks/ops/small_task.h"

namespace onelaunch::tasks {
namespace {

using testing::HasSubstr;

std::string error_of(SmallTask small) {
  const Result<void> done = infer_shapes(small.task);
  return done ? "no error" : done.error().message;
}

SmallTask linear_task() {
  return SmallTask().input("x", 8).weight("w", {3, 8}).op("linear", {"x", "w"}, {"y"}, {}, DType::bf16);
}

TEST(InferShapes, GivesEveryResultItsTypeAndShape) {
  SmallTask small = linear_task();
  small.op("topk_routing", {"y"}, {"ids", "weights"}, {{"k", 2}});
  ASSERT_TRUE(infer_shapes(small.task));
  EXPECT_EQ(small.task.values.at("y").dtype, DType::bf16);
  EXPECT_EQ(small.task.values.at("y").shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(small.task.values.at("ids").dtype, DType::i32);
  EXPECT_EQ(small.task.values.at("weights").shape, std::vector<std::int64_t>{2});
}

TEST(InferShapes, NamesTheLineTheOpAndItsKind) {
  EXPECT_THAT(error_of(SmallTask().input("x", 7).weight("w", {3, 8}).op("linear", {"x", "w"}, {"y"})),
              testing::StartsWith("line 1: op y (linear): w must have shape [out, 7]"));
}

TEST(InferShapes, ListsTheKindsWhenOneIsUnknown) {
  EXPECT_THAT(error_of(SmallTask().input("x", 4).op("conv2d", {"x"}, {"y"})),
              HasSubstr("there is no op kind conv2d; there are rmsnorm, linear"));
}

TEST(InferShapes, SaysWhatAnOpTakes) {
  EXPECT_THAT(error_of(SmallTask().input("x", 4).op("linear", {"x"}, {"y"})),
              HasSubstr("takes 2 inputs (x, weight), got 1"));
  EXPECT_THAT(error_of(linear_task().op("add", {"y", "y"}, {"a", "b"})), HasSubstr("takes 1 outputs (y), got 2"));
}

TEST(InferShapes, SaysWhatAnOperandMustBe) {
  EXPECT_THAT(error_of(SmallTask().input("x", 8).input("w", 8).op("linear", {"x", "w"}, {"y"})),
              HasSubstr("weight must be a weight; w is not"));
  EXPECT_THAT(error_of(SmallTask().input("x", 8).weight("w", {3, 8}).op("linear_int4", {"x", "w"}, {"y"})),
              HasSubstr("weight must be an int4 weight; w is not"));
  EXPECT_THAT(error_of(SmallTask().input("x", 8).tensor("S", Role::state, DType::f32, {8}).op("append", {"x"}, {"S"})),
              HasSubstr("cache must be a cache"));
}

TEST(InferShapes, RefusesUnknownAndMissingAttributes) {
  EXPECT_THAT(error_of(SmallTask().input("x", 8).weight("w", {8}).op("rmsnorm", {"x", "w"}, {"y"})),
              HasSubstr("needs the attribute eps"));
  EXPECT_THAT(error_of(SmallTask().input("x", 8).input("z", 8).op("add", {"x", "z"}, {"y"}, {{"eps", 1}})),
              HasSubstr("has no attribute eps"));
  EXPECT_THAT(error_of(SmallTask().input("x", 8).op("topk_routing", {"x"}, {"i", "w"}, {{"k", 1.5}})),
              HasSubstr("attribute k must be a positive integer"));
}

TEST(InferShapes, RefusesInputsThatAreNotThereYet) {
  EXPECT_THAT(error_of(SmallTask().input("x", 8).op("add", {"x", "later"}, {"y"})),
              HasSubstr("neither a tensor nor a result of an earlier op"));
  EXPECT_THAT(
      error_of(SmallTask().input("x", 8).tensor("out", Role::output, DType::f32, {8}).op("add", {"x", "out"}, {"y"})),
      HasSubstr("reads the output out before an op has written it"));
}

TEST(InferShapes, RefusesToWriteAnythingTwice) {
  EXPECT_THAT(error_of(linear_task().op("linear", {"x", "w"}, {"y"})),
              HasSubstr("writes y, which an earlier op writes already"));
  EXPECT_THAT(error_of(linear_task().op("linear", {"x", "w"}, {"w"})), HasSubstr("must be a new result or an output"));
}

TEST(InferShapes, RefusesAnOutputOfAnotherShapeOrType) {
  const auto with_output = [](DType dtype, std::int64_t size) {
    return SmallTask()
        .input("x", 8)
        .tensor("out", Role::output, dtype, {size})
        .op("add", {"x", "x"}, {"out"}, {}, DType::bf16);
  };
  EXPECT_EQ(error_of(with_output(DType::bf16, 8)), "no error");
  EXPECT_THAT(error_of(with_output(DType::bf16, 9)), HasSubstr("out has shape [9], the op gives [8]"));
  EXPECT_THAT(error_of(with_output(DType::f32, 8)), HasSubstr("out is f32, the op gives bf16"));
}

TEST(InferShapes, RefusesAnOutputThatNoOpWrites) {
  EXPECT_THAT(error_of(linear_task().tensor("out", Role::output, DType::f32, {8})),
              HasSubstr("the output out is written by no op"));
}

TEST(InferShapes, ChecksTheStateOfTheDeltaRule) {
  SmallTask small;
  small.input("qk", 8).input("v", 6).input("b", 2).tensor("S", Role::state, DType::f32, {2, 4, 4});
  EXPECT_THAT(error_of(small.op("gated_delta_update", {"qk", "qk", "v", "qk", "b"}, {"y", "S"})),
              HasSubstr("v must be a vector of 8"));
}

TEST(InferShapes, ChecksExpertsAgainstEachOther) {
  SmallTask small;
  small.input("x", 128).input("logits", 4).int4("gate", 4, 128, 128).int4("up", 4, 128, 128).int4("down", 3, 128, 128);
  small.op("topk_routing", {"logits"}, {"ids", "weights"}, {{"k", 2}});
  EXPECT_THAT(error_of(small.op("experts_int4", {"x", "ids", "weights", "gate", "up", "down"}, {"y"})),
              HasSubstr("as many experts each"));
}

TEST(OpKinds, AreAllDocumentedAndComplete) {
  for (const OpKind& kind : op_kinds()) {
    EXPECT_GT(std::string(kind.documentation).size(), 10u) << kind.name;
    EXPECT_TRUE(kind.infer && kind.evaluate && kind.flops && kind.eager) << kind.name;
    EXPECT_EQ(find_op(kind.name), &kind);
  }
}

TEST(OpKinds, AreListedOnThePageForAuthors) {
  const Result<std::string> page = read_file(ONELAUNCH_OPS_PAGE, 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(*page, op_reference()) << "write op_reference() to tasks/ops/OPS.md";
}

}  // namespace
}  // namespace onelaunch::tasks
