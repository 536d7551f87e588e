#include "sandbox/worker/include_scan.h"

#include <gtest/gtest.h>

namespace onelaunch::worker {
namespace {

TEST(IncludeScan, LetsOrdinaryHeadersPass) {
  EXPECT_FALSE(forbidden_include("#include <onelaunch.cuh>\n#include \"cuda_bf16.h\"\n# include <cooperative_groups.h>\nint x;\n"));
}

TEST(IncludeScan, RefusesAPathOfTheMachineAndNamesTheLine) {
  const auto found = forbidden_include("int x;\n#include \"/etc/passwd\"\n");
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("kernel.cu(2)"), std::string::npos) << *found;
}

TEST(IncludeScan, SeesThroughSplicesCommentsAndSpelling) {
  EXPECT_TRUE(forbidden_include("#inc\\\nlude \"/etc/passwd\"\n"));
  EXPECT_TRUE(forbidden_include("/* x */ # /* y */ include </etc/passwd>\n"));
  EXPECT_TRUE(forbidden_include("%:include \"/etc/passwd\"\n"));
  EXPECT_TRUE(forbidden_include("#include \"../../etc/passwd\"\n"));
  EXPECT_TRUE(forbidden_include("#define P \"/etc/passwd\"\n#include P\n"));
  EXPECT_TRUE(forbidden_include("#include_next <x>\n"));
  EXPECT_TRUE(forbidden_include("#embed \"/etc/passwd\"\n"));
  EXPECT_TRUE(forbidden_include("#if __has_include(\"/etc/passwd\")\n#endif\n"));
}

TEST(IncludeScan, IgnoresWhatIsOnlySpokenOf) {
  EXPECT_FALSE(forbidden_include("// #include \"/etc/passwd\"\n/*\n#include \"/etc/passwd\"\n*/\nint x;\n"));
}

TEST(IncludeScan, KeepsLineNumbersAcrossSplicesAndBlockComments) {
  const auto found = forbidden_include("/*\n\n*/ int a \\\n = 1;\n#include \"/x\"\n");
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("kernel.cu(5)"), std::string::npos) << *found;
}

}  // namespace
}  // namespace onelaunch::worker
