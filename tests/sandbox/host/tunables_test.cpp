#include "sandbox/host/tunables.h"

#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

TEST(Tunables, AreReadInFileOrderWithTheirDefaults) {
  const auto tunables = scan_tunables(
      "#include <onelaunch.cuh>\n"
      "OL_TUNABLE(BLOCK, 128, 64, 128, 256)  // threads\n"
      "OL_TUNABLE(\n  UNROLL, 2)\n"
      "OL_TUNABLE(SPLIT, (1 + 1), 3, f(1, 2))\n");
  ASSERT_TRUE(tunables) << tunables.error().message;
  ASSERT_EQ(tunables->size(), 3u);
  EXPECT_EQ((*tunables)[0].name, "BLOCK");
  EXPECT_EQ((*tunables)[0].fallback, "128");
  EXPECT_EQ((*tunables)[0].values, (std::vector<std::string>{"64", "128", "256"}));
  EXPECT_EQ((*tunables)[1].values, (std::vector<std::string>{"2"}));
  EXPECT_EQ((*tunables)[2].values, (std::vector<std::string>{"(1 + 1)", "3", "f(1, 2)"}));
}

TEST(Tunables, AreNotFoundInCommentsStringsAndMacros) {
  const auto tunables = scan_tunables(
      "// OL_TUNABLE(A, 1)\n/* OL_TUNABLE(B, 1) */\n#define C OL_TUNABLE(C, 1) \\\n OL_TUNABLE(D, 1)\n"
      "const char* s = \"OL_TUNABLE(E, 1)\"; const char* r = R\"x(OL_TUNABLE(F, 1))x\";\n"
      "int n = 1'000; int MY_OL_TUNABLE(int); OL_TUNABLE(G, 1)\n");
  ASSERT_TRUE(tunables) << tunables.error().message;
  ASSERT_EQ(tunables->size(), 1u);
  EXPECT_EQ(tunables->front().name, "G");
}

std::string error_of(const std::string& source) {
  const auto tunables = scan_tunables(source);
  return tunables ? "" : tunables.error().message;
}

TEST(Tunables, NameTheLineOfAMistake) {
  EXPECT_EQ(error_of("\n\nOL_TUNABLE(A, 1)\nOL_TUNABLE(A, 2)\n"), "kernel.cu:4: OL_TUNABLE(A) is declared twice");
  EXPECT_NE(error_of("void f() {\n OL_TUNABLE(A, 1)\n}").find("kernel.cu:2"), std::string::npos);
  EXPECT_NE(error_of("OL_TUNABLE(A").find("never closed"), std::string::npos);
  EXPECT_NE(error_of("OL_TUNABLE(A)").find("default"), std::string::npos);
  EXPECT_NE(error_of("OL_TUNABLE(1A, 2)").find("'1A' is no name"), std::string::npos);
  EXPECT_NE(error_of("OL_TUNABLE(A, 1, , 2)").find("empty"), std::string::npos);
  EXPECT_NE(error_of("OL_TUNABLE(A, \"x\")").find("string"), std::string::npos);
}

TEST(Tunables, TakeTheDefaultUnlessAnotherListedValueIsAskedFor) {
  const std::vector<Tunable> tunables{{"BLOCK", "128", {"64", "128"}}, {"ROWS", "1", {"1", "2"}}};
  const auto values = choose_values(tunables, {{"ROWS", "2"}});
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (TunableValues{{"BLOCK", "128"}, {"ROWS", "2"}}));
  EXPECT_EQ(choose_values(tunables, {{"ROWS", "3"}}).error().message, "ROWS = 3 is not among its values: 1, 2");
  EXPECT_EQ(choose_values(tunables, {{"X", "3"}}).error().message,
            "the source declares no tunable X; it declares BLOCK, ROWS");
}

}  // namespace
}  // namespace onelaunch::sandbox
