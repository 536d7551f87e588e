#include "agent/llm/surrogates.h"

#include <gtest/gtest.h>

#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

TEST(Surrogates, JoinTheirHalvesAcrossPieces) {
  const std::string first = with_halves_marked(R"("a\"\\\ud83d")"), second = with_halves_marked(R"("\ude80b")");
  EXPECT_TRUE(is_json(first));
  EXPECT_TRUE(is_json(second));
  EXPECT_EQ(with_halves_joined(first.substr(0, first.size() - 1) + second.substr(1)), R"("a\"\\🚀b")");
}

TEST(Surrogates, LeaveEverythingElseAlone) {
  for (const char* text :
       {R"("\ud83d\ude80")", R"("\\ud83d \u00e9 \n\\")", "é核🚀\xF4\x8F\xBF\xBD", "", "\"\\", R"("\ud8)"})
    EXPECT_EQ(with_halves_joined(with_halves_marked(text)), text);
}

TEST(Surrogates, GiveUpAHalfThatStaysAlone) {
  for (const char* text : {R"("\ude80")", R"("\ud83d")", R"("\uD83Dx\uDE80")"}) {
    const std::string mended = with_halves_joined(with_halves_marked(text));
    EXPECT_TRUE(is_json(mended)) << mended;
    EXPECT_NE(mended.find("\xEF\xBF\xBD"), std::string::npos);
  }
}

}  // namespace
}  // namespace onelaunch::llm
