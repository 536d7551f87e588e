#include "traces/text.h"

#include <gtest/gtest.h>

namespace onelaunch::traces {
namespace {

TEST(OneLine, CannotSteerTheTerminal) {
  EXPECT_EQ(one_line("a\x1b[2Jb\r\nc\x7f"), "a [2Jb c");
  EXPECT_EQ(one_line("a\xc2\x9b" "31mb"), "a 31mb");                  // the one-character CSI
  EXPECT_EQ(one_line("a\xe2\x80\xae" "b\xe2\x81\xa6" "c"), "a b c");  // right-to-left override, isolate
}

TEST(OneLine, KeepsOtherScripts) { EXPECT_EQ(one_line("grüße 世界 – ok"), "grüße 世界 – ok"); }

TEST(OneLine, CutsLongTextWithoutCuttingACharacter) {
  EXPECT_EQ(one_line("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(one_line("abcdefghijk", 10), "abcdefg...");
  EXPECT_EQ(one_line("üüüüüüüüüüü", 10), "üüüüüüü...");
}

TEST(Columns, AreAsWideAsTheirWidestCellInCharacters) {
  EXPECT_EQ(columns({{"n", "name"}, {"10", "ü"}, {"9", "abcdef"}}, {Align::right, Align::left}),
            " n  name\n--  ------\n10  ü\n 9  abcdef\n");
}

TEST(Numbers, HaveTheDigitsThatMatter) {
  EXPECT_EQ(micros(88.1), "88.10");
  EXPECT_EQ(micros(1234.56), "1234.6");
  EXPECT_EQ(factor(1.0349), "1.035x");
  EXPECT_EQ(factor(12.34), "12.3x");
  EXPECT_EQ(percent(0.4116), "41.2 %");
}

}  // namespace
}  // namespace onelaunch::traces
