#include "tasks/parse_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onelaunch::tasks {
namespace {

using ::testing::HasSubstr;

TEST(PositionedJson, KnowsTheLineOfEveryKeyAndValue) {
  const Result<JsonNode> root = read_json("{\n \"a\": 1\n,\"b\": [\n2\n,\n\"x\", {\"c\":\nnull}]}", "f");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->find("a")->line, 2);
  EXPECT_EQ(root->find("a")->value.line, 2);
  const JsonMember& b = *root->find("b");
  EXPECT_EQ(b.line, 3);
  EXPECT_EQ(b.value.items[0].line, 4);
  EXPECT_EQ(b.value.items[1].line, 6);
  EXPECT_EQ(b.value.items[2].find("c")->line, 6);
  EXPECT_EQ(b.value.items[2].find("c")->value.line, 7);
}

TEST(PositionedJson, ReportsTheLineAndColumnOfASyntaxError) {
  const Result<JsonNode> root = read_json("{\n  \"a\": 1,\n  \"b\" \"2\"\n}", "some/task.json");
  ASSERT_FALSE(root);
  EXPECT_THAT(root.error().message, HasSubstr("some/task.json:3: column 9: not valid JSON"));
}

TEST(PositionedJson, RefusesARepeatedField) {
  const Result<JsonNode> root = read_json("{\"a\": 1,\n\"a\": 2}", "f");
  ASSERT_FALSE(root);
  EXPECT_THAT(root.error().message, HasSubstr("f:2: the field \"a\" is given twice"));
}

TEST(PositionedJson, RefusesDeepNestingAndLargeNumbers) {
  EXPECT_THAT(read_json(std::string(100000, '['), "f").error().message, HasSubstr("nested deeper than 32"));
  EXPECT_THAT(read_json("[18446744073709551615]", "f").error().message, HasSubstr("above 2^63 - 1"));
}

TEST(PositionedJson, RefusesWhatComesAfterTheEndAndAnEmptyFile) {
  EXPECT_FALSE(read_json("{} x", "f"));
  EXPECT_FALSE(read_json("", "f"));
  EXPECT_FALSE(read_json("{\"a\": \"\xff\"}", "f"));
}

}  // namespace
}  // namespace onelaunch::tasks
