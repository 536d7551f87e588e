#include "agent/tools/likeness.h"

#include <gtest/gtest.h>

namespace onelaunch::agent {
namespace {

Report judged(const std::string& id, const std::string& source, Verdict verdict = Verdict::revert) {
  Report report;
  report.candidate = id;
  report.proposal.source = source;
  report.verdict = verdict;
  return report;
}

TEST(BareCode, DropsCommentsAndSpaceButNotThoseInLiterals) {
  EXPECT_EQ(bare_code("int  x = 1; // one\n/* two */ return\tx;"), bare_code("int x=1;return x;"));
  EXPECT_EQ(bare_code("f(\"a // b\")"), "f(\"a // b\")");
  EXPECT_NE(bare_code("int x"), bare_code("intx"));
  EXPECT_NE(bare_code("return a"), bare_code("return b"));
  EXPECT_EQ(bare_code("/* never closed"), "");
}

TEST(SameAttempt, FindsTheSameCodeWithTheSameTunables) {
  const std::string source = "OL_TUNABLE(A, 1, 1, 2)\nvoid f() { g(); }";
  Report first = judged("c1", source);
  first.proposal.tunables = {{"A", "1"}};
  const std::vector<Report> history{first};
  const Report* same = same_attempt(history, {.source = "// better\n" + source, .tunables = {}});
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(same->candidate, "c1");
  EXPECT_EQ(same_attempt(history, {.source = source, .tunables = {{"A", "2"}}}), nullptr);
  EXPECT_EQ(same_attempt(history, {.source = "OL_TUNABLE(A, 1, 1, 2)\nvoid f() { h(); }", .tunables = {}}), nullptr);
}

TEST(SameAttempt, DoesNotCountWhatWasNeverJudged) {
  EXPECT_EQ(same_attempt({judged("c1", "x", Verdict::unjudged)}, {.source = "x"}), nullptr);
}

TEST(WordsApart, CountsWhatOnlyOneSideHas) {
  EXPECT_EQ(words_apart("a + b", "a + b // c"), 0u);
  EXPECT_EQ(words_apart("f(12);", "f(16);"), 2u);
  EXPECT_EQ(words_apart("a a a", "a"), 2u);
}

TEST(SmallStepsInVain, EndAtAKeepAndAtSomethingNew) {
  std::vector<Report> history{judged("c0", "int a = 1; call_this(); and_that();"),
                              judged("c1", "int a = 2; call_this(); and_that();", Verdict::keep),
                              judged("c2", "int a = 3; call_this(); and_that();"),
                              judged("c3", "int a = 4; call_this(); and_that();")};
  EXPECT_EQ(small_steps_in_vain(history, 4), 2);
  history.push_back(judged("c4", "while (true) { something_else(entirely); then(more, and_more); }"));
  EXPECT_EQ(small_steps_in_vain(history, 4), 0);
  ASSERT_TRUE(near_attempt(history, 3));
  EXPECT_EQ(near_attempt(history, 3)->apart, 2u);
  EXPECT_FALSE(near_attempt(history, 4));
}

}  // namespace
}  // namespace onelaunch::agent
