#include "agent/tools/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/tools/toolbox.h"

namespace onelaunch::agent {
namespace {

using testing::HasSubstr;

const std::vector<Field> kFields = {
    {.name = "text", .required = true, .description = "a text"},
    {.name = "count", .kind = Field::Kind::integer, .description = "a count", .least = 1},
    {.name = "value", .kind = Field::Kind::number, .description = "a number"},
    {.name = "list", .kind = Field::Kind::list, .description = "texts"},
    {.name = "choice", .description = "one", .choices = {"a", "b"}},
};

std::string why_not(const std::string& json) {
  const auto arguments = Arguments::parse(json, kFields);
  EXPECT_FALSE(arguments) << json;
  return arguments ? "" : arguments.error().message;
}

TEST(ToolArguments, AreReadByKind) {
  const auto arguments = Arguments::parse(R"({"text":"t","count":3,"value":2.5,"list":["x","y"],"choice":"b"})", kFields);
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->text("text"), "t");
  EXPECT_EQ(arguments->integer("count"), 3);
  EXPECT_EQ(arguments->number("value"), 2.5);
  EXPECT_EQ(arguments->list("list"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(arguments->text("choice"), "b");
}

TEST(ToolArguments, TakeNullForAbsentAndNumbersWrittenAsTexts) {
  const auto arguments = Arguments::parse(R"({"text":"t","count":"3","value":null})", kFields);
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->integer("count"), 3);
  EXPECT_FALSE(arguments->has("value"));
}

TEST(ToolArguments, SayWhatIsWrongAndWhatIsExpected) {
  EXPECT_THAT(why_not("{"), HasSubstr("no valid JSON"));
  EXPECT_THAT(why_not("[1]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(why_not("{}"), HasSubstr("`text` is missing; expected arguments: {text: string, count?: integer"));
  EXPECT_THAT(why_not(R"({"text":"t","other":1})"), HasSubstr("no argument `other`"));
  EXPECT_THAT(why_not(R"({"text":7})"), HasSubstr("`text` must be a string"));
  EXPECT_THAT(why_not(R"({"text":"t","count":1.5})"), HasSubstr("`count` must be an integer"));
  EXPECT_THAT(why_not(R"({"text":"t","count":0})"), HasSubstr("at least 1"));
  EXPECT_THAT(why_not(R"({"text":"t","count":1e300})"), HasSubstr("must be an integer"));
  EXPECT_THAT(why_not(R"({"text":"t","value":"much"})"), HasSubstr("must be a number"));
  EXPECT_THAT(why_not(R"({"text":"t","list":[1]})"), HasSubstr("array of strings"));
  EXPECT_THAT(why_not(R"({"text":"t","choice":"c"})"), HasSubstr("one of: a, b"));
}

TEST(ToolArguments, TakeDefinesAsAListOrAnObject) {
  const auto object = Arguments::parse(R"({"text":"t","list":{"A":2,"B":"x"}})", kFields);
  ASSERT_TRUE(object) << object.error().message;
  const auto values = parse_defines(object->list("list"));
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (std::map<std::string, std::string>{{"A", "2"}, {"B", "x"}}));
  EXPECT_FALSE(parse_defines({"A"}));
  EXPECT_FALSE(parse_defines({"=1"}));
  EXPECT_FALSE(parse_defines({"A=1", "A=2"}));
}

TEST(AllTools, HaveTheOrderThatConversationsHaveCached) {
  std::string names;
  for (const Tool& tool : all_tools()) names += tool.name + " ";
  EXPECT_EQ(names,
            "read_kernel write_kernel str_replace apply_patch compile evaluate profile microbench emulate disassemble "
            "history revert notes task finish ");
}

TEST(AllTools, HaveSchemasOfObjectsThatDescribeEveryField) {
  for (const Tool& tool : all_tools()) {
    const auto schema = nlohmann::json::parse(tool.schema);
    EXPECT_EQ(schema.at("type"), "object") << tool.name;
    EXPECT_FALSE(schema.at("additionalProperties").get<bool>());
    EXPECT_EQ(tool.schema, schema.dump()) << "keys are sorted";
    EXPECT_GT(tool.description.size(), 20u);
    for (const auto& [name, field] : schema.at("properties").items())
      EXPECT_GT(field.at("description").get<std::string>().size(), 5u) << tool.name << "." << name;
  }
}

}  // namespace
}  // namespace onelaunch::agent
