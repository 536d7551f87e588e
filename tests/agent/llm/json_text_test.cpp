#include "agent/llm/json_text.h"

#include <gtest/gtest.h>

namespace onelaunch::llm {
namespace {

TEST(JsonText, CutsMembersOutAsTheyStand) {
  const std::string text = R"( { "a" : {"b": [1, 2.50 , {"a":0}]} , "s":"x\"}, \\" ,"n":-1e5,"t":true, "e" : {} } )";
  EXPECT_EQ(raw_member(text, "a"), R"({"b": [1, 2.50 , {"a":0}]})");
  EXPECT_EQ(raw_member(text, "s"), R"("x\"}, \\")");
  EXPECT_EQ(raw_member(text, "n"), "-1e5");
  EXPECT_EQ(raw_member(text, "t"), "true");
  EXPECT_EQ(raw_member(text, "e"), "{}");
  EXPECT_EQ(raw_member(text, "b"), std::nullopt);
  EXPECT_EQ(raw_member("[1]", "a"), std::nullopt);
  EXPECT_EQ(raw_member("{}", "a"), std::nullopt);
  EXPECT_EQ(raw_member(R"({"a":1,"a":2})", "a"), "2") << "as the parser has it";
}

TEST(JsonText, CutsElementsOutAsTheyStand) {
  const auto elements = raw_elements(R"([ {"a":[1, 2]} , "x,y]", 3 ,null,[] ])");
  EXPECT_EQ(elements, (std::vector<std::string_view>{R"({"a":[1, 2]})", R"("x,y]")", "3", "null", "[]"}));
  EXPECT_TRUE(raw_elements("[]").empty());
  EXPECT_TRUE(raw_elements("{\"a\":1}").empty());
}

TEST(JsonText, DoesNotRunBeyondABrokenText) {
  for (const char* broken :
       {"{\"a\":", "{\"a", "{\"a\":\"", "{\"a\":[1,", "{", "", "{\"a\" \"b\"", "[1 2", "{\"a\":}"}) {
    raw_member(broken, "a");
    raw_elements(broken);
  }
  EXPECT_EQ(raw_member(std::string(1000000, '['), "a"), std::nullopt);
  EXPECT_EQ(raw_elements(std::string(1000000, '[')).size(), 1u);
}

TEST(JsonText, WritesStringsAsValidUtf8) {
  EXPECT_EQ(json_string("a\"\n\x01é"), R"("a\"\n\u0001é")");
  EXPECT_EQ(json_string("x\xffy"), "\"x\xEF\xBF\xBDy\"");
  EXPECT_EQ(valid_utf8("x\xC3"), "x\xEF\xBF\xBD");
}

}  // namespace
}  // namespace onelaunch::llm
