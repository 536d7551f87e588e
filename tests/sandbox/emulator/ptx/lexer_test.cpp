#include "sandbox/emulator/ptx/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onelaunch::emu::ptx {
namespace {

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> result;
  for (Lexer lexer(text); !lexer.at_end();) result.emplace_back(lexer.take().text);
  return result;
}

TEST(PtxLexer, KeepsTheModifiersOfAnOpcodeTogether) {
  EXPECT_EQ(texts("ld.global.nc.L1::no_allocate.v4.u32 {%r1,%r2}, [%rd1+-16];"),
            (std::vector<std::string>{"ld.global.nc.L1::no_allocate.v4.u32", "{", "%r1", ",", "%r2", "}", ",", "[",
                                      "%rd1", "+", "-", "16", "]", ";"}));
}

TEST(PtxLexer, CutsDirectivesAtEachDot) {
  EXPECT_EQ(texts(".reg.pred p;"), (std::vector<std::string>{".reg", ".pred", "p", ";"}));
}

TEST(PtxLexer, TellsALabelFromADoubleColon) {
  EXPECT_EQ(texts("$L__BB0_2: st.shared::cta.b32"), (std::vector<std::string>{"$L__BB0_2", ":", "st.shared::cta.b32"}));
}

TEST(PtxLexer, SkipsCommentsAndCountsTheirLines) {
  Lexer lexer("// one\n/* two\nthree */ ret;");
  EXPECT_EQ(lexer.peek().text, "ret");
  EXPECT_EQ(lexer.line(), 3);
}

TEST(PtxLexer, SurvivesACommentThatNeverEnds) { EXPECT_TRUE(texts("/* ").empty()); }

TEST(PtxLexer, KeepsItsFirstErrorAndStops) {
  Lexer lexer("a\nb");
  lexer.take();
  lexer.expect(';');
  lexer.fail(9, "later");
  ASSERT_TRUE(lexer.error());
  EXPECT_EQ(lexer.error()->message, "PTX line 2: expected ';' before 'b'");
  EXPECT_TRUE(lexer.at_end());
}

}  // namespace
}  // namespace onelaunch::emu::ptx
