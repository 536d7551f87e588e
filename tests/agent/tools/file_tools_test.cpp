#include "tests/agent/tools/toolbox_fixture.h"

namespace onelaunch::agent {
namespace {

using FileTools = ToolboxTest;

TEST_F(FileTools, BeginWithTheIncumbent) {
  EXPECT_EQ(toolbox->candidate(), kTen);
  EXPECT_THAT(text("read_kernel"), HasSubstr("kernel.cu, lines 1 to 10 of 10\n 1  OL_TUNABLE(A, 1, 1, 2)\n"));
}

TEST_F(FileTools, EveryReplyEndsWithHowTheSessionStands) {
  clock.advance(750);
  const std::string status = "[00:12:30 used, 00:44:30 left; 0 decisions, 0 kept; best c0 100.00 us modelled, 1.00x seed]";
  EXPECT_EQ(toolbox->status_line(), status);
  for (const Tool& tool : all_tools()) EXPECT_TRUE(call(tool.name, {{"x", 1}}).text.ends_with("\n" + status)) << tool.name;
}

TEST_F(FileTools, ReadParts) {
  const std::string part = text("read_kernel", {{"from", 2}, {"to", 4}});
  EXPECT_THAT(part, HasSubstr("lines 2 to 4 of 10\n2  float one() {\n3    return 1;\n4  }\n"));
  EXPECT_THAT(part, Not(HasSubstr("two")));
  EXPECT_THAT(error("read_kernel", {{"from", 11}}), HasSubstr("has 10 lines; there is no line 11"));
  EXPECT_THAT(error("read_kernel", {{"from", 4}, {"to", 2}}), HasSubstr("comes before"));
  EXPECT_THAT(error("read_kernel", {{"from", "x"}}), HasSubstr("must be an integer"));
}

TEST_F(FileTools, ShowALongFileInPartsThatSayHowToGoOn) {
  std::string source;
  for (int i = 1; i <= 5000; ++i) source += "int line_" + std::to_string(i) + ";\n";
  text("write_kernel", {{"source", source}});
  const std::string first = text("read_kernel");
  EXPECT_LT(first.size(), 60000u);
  const std::size_t at = first.find("... go on with from ");
  ASSERT_NE(at, std::string::npos);
  const int next = std::stoi(first.substr(at + 20));
  EXPECT_THAT(first, HasSubstr("line_" + std::to_string(next - 1) + ";"));
  EXPECT_THAT(text("read_kernel", {{"from", next}}), HasSubstr(std::to_string(next) + "  int line_" + std::to_string(next) + ";"));
}

TEST_F(FileTools, WriteTheWholeFile) {
  EXPECT_THAT(text("write_kernel", {{"source", "a\nb\n"}}), HasSubstr("2 lines, 4 bytes"));
  EXPECT_EQ(toolbox->candidate(), "a\nb\n");
  error("write_kernel", {{"source", " \n"}});
  EXPECT_THAT(error("write_kernel", {{"source", std::string((4u << 20) + 1, 'x')}}), HasSubstr("at most 4194304"));
  error("write_kernel", {{"source", std::string("a\0b", 3)}});
  error("write_kernel");
  EXPECT_EQ(toolbox->candidate(), "a\nb\n");
}

TEST_F(FileTools, ReplaceWhatIsThereExactlyOnce) {
  const std::string reply = text("str_replace", {{"old", "  return 2;"}, {"new", "  return 2.f;\n  // two"}});
  EXPECT_THAT(reply, HasSubstr("Replaced at line 6; kernel.cu now has 11 lines"));
  EXPECT_THAT(reply, HasSubstr(" 6    return 2.f;\n 7    // two\n 8  }\n"));
  EXPECT_THAT(reply, Not(HasSubstr("OL_TUNABLE")));
  EXPECT_THAT(toolbox->candidate(), HasSubstr("return 2.f;\n  // two\n}"));
}

TEST_F(FileTools, SayWhereWhatIsThereSeveralTimesIs) {
  EXPECT_THAT(error("str_replace", {{"old", "return"}, {"new", "x"}}), HasSubstr("2 times, at lines 3, 6"));
  EXPECT_EQ(toolbox->candidate(), kTen);
}

TEST_F(FileTools, SayWhatComesNearToWhatIsNotThere) {
  EXPECT_THAT(error("str_replace", {{"old", "float two()  {\n  return 2;"}, {"new", ""}}), HasSubstr("Not even its first line"));
  EXPECT_THAT(error("str_replace", {{"old", "float two() {\n  return 3;"}, {"new", ""}}), HasSubstr("like line 5"));
  error("str_replace", {{"old", ""}, {"new", "x"}});
  error("str_replace", {{"old", "one"}, {"new", "one"}});
  error("str_replace", {{"old", "one"}});
}

TEST_F(FileTools, ApplyPatches) {
  const std::string reply = text(
      "apply_patch", {{"patch", "*** Begin Patch\n*** Update File: kernel.cu\n@@\n-  one();\n+  two();\n*** End Patch"}});
  EXPECT_THAT(reply, HasSubstr("Applied 1 hunk"));
  EXPECT_THAT(reply, HasSubstr(" 9    two();\n"));
  EXPECT_THAT(error("apply_patch", {{"patch", "*** Begin Patch\n*** Update File: kernel.cu\n@@\n-x\n*** End Patch"}}),
              HasSubstr("Nothing was changed."));
  error("apply_patch", {{"patch", 1}});
}

}  // namespace
}  // namespace onelaunch::agent
