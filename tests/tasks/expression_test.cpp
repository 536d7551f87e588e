#include "tasks/parse_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onelaunch::tasks {
namespace {

using ::testing::HasSubstr;

const Names kNames = {{"heads", 32}, {"dim", 128}, {"i", 2}};

std::string message(const std::string& expression) {
  const Result<std::int64_t> value = evaluate(expression, kNames);
  return value ? "is " + std::to_string(*value) : value.error().message;
}

TEST(Expression, FollowsPrecedenceAndParentheses) {
  EXPECT_EQ(*evaluate("heads * dim + 64", kNames), 32 * 128 + 64);
  EXPECT_EQ(*evaluate("heads*(dim+64)", kNames), 32 * 192);
  EXPECT_EQ(*evaluate("10 - 3 - 2", kNames), 5);
  EXPECT_EQ(*evaluate(" dim / 4 * 3 ", kNames), 96);
}

TEST(Expression, NamesWhatIsWrong) {
  EXPECT_THAT(message("head * 2"), HasSubstr("no dim or index is named \"head\"; known are dim, heads, i"));
  EXPECT_THAT(message("dim / 3"), HasSubstr("128 / 3 does not come out even"));
  EXPECT_THAT(message("dim / (i - 2)"), HasSubstr("division by zero"));
  EXPECT_THAT(message("(dim"), HasSubstr("')' is missing"));
  EXPECT_THAT(message("dim +"), HasSubstr("it ends where"));
  EXPECT_THAT(message(""), HasSubstr("it ends where"));
  EXPECT_THAT(message("dim dim"), HasSubstr("unexpected 'd'"));
  EXPECT_THAT(message("2 ^ 3"), HasSubstr("unexpected '^'"));
  EXPECT_THAT(message("9223372036854775807 + 1"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(message("99999999999999999999"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(message("(0 - 9223372036854775807 - 1) / (0 - 1)"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(message(std::string(100000, '(')), HasSubstr("nested deeper"));
}

TEST(Expression, FillsBracesInNames) {
  EXPECT_EQ(*substitute("x.{i+1}.h{heads / 16}", kNames), "x.3.h2");
  EXPECT_EQ(*substitute("plain", kNames), "plain");
  EXPECT_FALSE(substitute("x.{i", kNames));
  EXPECT_FALSE(substitute("x.i}", kNames));
  EXPECT_FALSE(substitute("x.{}", kNames));
}

}  // namespace
}  // namespace onelaunch::tasks
