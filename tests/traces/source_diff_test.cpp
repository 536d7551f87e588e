#include "traces/source_diff.h"

#include <gtest/gtest.h>

namespace onelaunch::traces {
namespace {

std::string numbered(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(SourceDiff, IsEmptyForEqualSources) {
  EXPECT_EQ(source_diff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(source_diff("", ""), "");
}

TEST(SourceDiff, ShowsAChangeWithThreeLinesAround) {
  EXPECT_EQ(source_diff(numbered(1, 10), numbered(1, 4) + "new\n" + numbered(6, 10)),
            "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+new\n line 6\n line 7\n line 8\n");
}

TEST(SourceDiff, JoinsChangesThatAreNearAndPartsThoseThatAreFar) {
  const std::string before = numbered(1, 40);
  std::string near = before, far = before;
  near.replace(near.find("line 20\n"), 8, "x\n"), near.replace(near.find("line 24\n"), 8, "y\n");
  far.replace(far.find("line 5\n"), 7, "x\n"), far.replace(far.find("line 30\n"), 8, "y\n");
  const auto hunks = [](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = text.find("@@ -"); at != std::string::npos; at = text.find("@@ -", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(hunks(source_diff(before, near)), 1u);
  EXPECT_EQ(hunks(source_diff(before, far)), 2u);
}

TEST(SourceDiff, ShowsWhatIsAddedAtTheEndsAndToNothing) {
  EXPECT_EQ(source_diff("", "a\nb\n"), "@@ -1,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(source_diff("a\n", ""), "@@ -1,1 +1,0 @@\n-a\n");
  EXPECT_EQ(source_diff("a\n", "a\nb"), "@@ -1,1 +1,2 @@\n a\n+b\n");
}

TEST(SourceDiff, DoesNotChokeOnSourcesThatShareNothing) {
  std::string before, after;
  for (int i = 0; i < 6000; ++i) before += "a" + std::to_string(i) + "\n", after += "b" + std::to_string(i) + "\n";
  EXPECT_EQ(source_diff(before, after).substr(0, 22), "@@ -1,6000 +1,6000 @@\n");
}

}  // namespace
}  // namespace onelaunch::traces
