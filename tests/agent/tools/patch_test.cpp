#include "agent/tools/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onelaunch::agent {
namespace {

using testing::HasSubstr;

const std::string kFile = "a\nb\nc\nd\nb\nc\ne\n";

std::string patch(const std::string& body) { return "*** Begin Patch\n*** Update File: kernel.cu\n" + body + "*** End Patch\n"; }

std::string patched(const std::string& body, const std::string& file = kFile) {
  const auto result = apply_patch(file, patch(body));
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->text : "";
}
std::string refused(const std::string& whole, const std::string& file = kFile) {
  const auto result = apply_patch(file, whole);
  EXPECT_FALSE(result) << result->text;
  return result ? "" : result.error().message;
}

TEST(Patch, ChangesAddsAndRemovesLines) {
  EXPECT_EQ(patched("@@\n a\n-b\n+B\n c\n"), "a\nB\nc\nd\nb\nc\ne\n");
  EXPECT_EQ(patched("@@\n d\n+new\n b\n"), "a\nb\nc\nd\nnew\nb\nc\ne\n");
  EXPECT_EQ(patched("@@\n-d\n"), "a\nb\nc\nb\nc\ne\n");
}

TEST(Patch, AppliesSeveralHunksInFileOrder) {
  const auto result = apply_patch(kFile, patch("@@\n-a\n+A\n@@\n-e\n+E\n+F\n"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "A\nb\nc\nd\nb\nc\nE\nF\n");
  ASSERT_EQ(result->changes.size(), 2u);
  EXPECT_EQ(result->changes[0].first, 1u);
  EXPECT_EQ(result->changes[1].first, 7u);
  EXPECT_EQ(result->changes[1].last, 8u);
}

TEST(Patch, TellsEqualPlacesApartByAnAnchor) {
  EXPECT_THAT(refused(patch("@@\n-b\n+B\n")), HasSubstr("fits at 2 places, lines 2, 5"));
  EXPECT_EQ(patched("@@ d\n-b\n+B\n"), "a\nb\nc\nd\nB\nc\ne\n");
  EXPECT_THAT(refused(patch("@@ nowhere\n-b\n+B\n")), HasSubstr("no line `nowhere`"));
}

TEST(Patch, IgnoresWhiteSpaceOnlyWhereNothingFitsExactly) {
  EXPECT_EQ(patched("@@\n if (x)\n-return;\n+stop();\n", "  if (x)\n    return;  \n"), "  if (x)\nstop();\n");
  EXPECT_EQ(patched("@@\n-x\n+y\n", " x\nx\n"), " x\ny\n");
}

TEST(Patch, PutsLinesAtTheEnd) {
  EXPECT_EQ(patched("@@\n+f\n*** End of File\n"), kFile + "f\n");
  EXPECT_EQ(patched("@@\n-c\n+C\n*** End of File\n"), "a\nb\nc\nd\nb\nC\ne\n");
}

TEST(Patch, KeepsAFileWithoutALastLineEndThatWay) { EXPECT_EQ(patched("@@\n-a\n+A\n", "a\nb"), "A\nb"); }

TEST(Patch, SaysWhichLineDoesNotFitAndWhatIsThereInstead) {
  const std::string why = refused(patch("@@\n a\n b\n-x\n+y\n"));
  EXPECT_THAT(why, HasSubstr("The hunk at line 3 of the patch"));
  EXPECT_THAT(why, HasSubstr("Closest is line 1, where 2 of its 3 lines fit"));
  EXPECT_THAT(why, HasSubstr("the patch has `x` and line 3 of kernel.cu is `c`"));
  EXPECT_THAT(refused(patch("@@\n-e\n+E\n@@\n-a\n+A\n")), HasSubstr("hunks must be in file order"));
}

TEST(Patch, RefusesWhatIsNoPatchOfTheKernel) {
  EXPECT_THAT(refused(""), HasSubstr("must begin with"));
  EXPECT_THAT(refused("--- a\n+++ b\n"), HasSubstr("must begin with"));
  EXPECT_THAT(refused("*** Begin Patch\n@@\n-a\n*** End Patch"), HasSubstr("comes before *** Update File"));
  EXPECT_THAT(refused("*** Begin Patch\n*** Update File: other.cu\n@@\n-a\n*** End Patch"), HasSubstr("`other.cu`"));
  EXPECT_THAT(refused("*** Begin Patch\n*** Delete File: kernel.cu\n*** End Patch"), HasSubstr("not possible here"));
  EXPECT_THAT(refused("*** Begin Patch\n*** Update File: kernel.cu\n@@\n-a\n"), HasSubstr("cut off"));
  EXPECT_THAT(refused(patch("")), HasSubstr("no hunks"));
  EXPECT_THAT(refused(patch("@@\n?a\n")), HasSubstr("begins with none of"));
}

}  // namespace
}  // namespace onelaunch::agent
