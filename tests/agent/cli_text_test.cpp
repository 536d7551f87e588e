#include <gtest/gtest.h>

#include "agent/cli/open_device.h"
#include "agent/cli/report_text.h"

namespace onelaunch::cli {
namespace {

TEST(ParseDefines, ReadsNamesAndValues) {
  const auto values = parse_defines({"A=1", "B=x=y", "C="});
  ASSERT_TRUE(values);
  EXPECT_EQ(values->at("A"), "1");
  EXPECT_EQ(values->at("B"), "x=y");
  EXPECT_EQ(values->at("C"), "");
  EXPECT_FALSE(parse_defines({"A"}));
  EXPECT_FALSE(parse_defines({"=1"}));
}

TEST(ChooseDevice, KnowsTheEmulatorAndGpusByNumber) {
  EXPECT_EQ(*choose_device("emu"), "emu");
  EXPECT_EQ(*choose_device("cuda"), "cuda:0");
  EXPECT_EQ(*choose_device("cuda:3"), "cuda:3");
  for (const char* nonsense : {"tpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x"}) {
    const auto device = choose_device(nonsense);
    ASSERT_FALSE(device) << nonsense;
    EXPECT_NE(device.error().message.find("auto, cuda:N, emu"), std::string::npos);
  }
}

TEST(ReportText, NamesTheKindOfEveryTime) {
  agent::Report report;
  report.candidate = "c3";
  report.verdict = agent::Verdict::keep;
  report.us = 80;
  report.times = {{.context = 32, .us = 80}};
  EXPECT_NE(report_text(report).find("(modelled)"), std::string::npos);
  EXPECT_NE(report_text(report).find("80.00 us modelled"), std::string::npos);
}

TEST(GradeText, ShowsWhatWasGotAndWhatWasWanted) {
  sandbox::Grade grade;
  grade.gates.push_back({.stage = "correctness",
                         .passed = false,
                         .test = "element",
                         .tensor = "y",
                         .index = 3,
                         .got = 1.5,
                         .want = 2.5,
                         .tolerance = 0.1,
                         .context = 32,
                         .step = 1});
  const std::string text = grade_text(grade);
  EXPECT_NE(text.find("FAIL"), std::string::npos);
  EXPECT_NE(text.find("got 1.5, want 2.5"), std::string::npos) << text;
}

}  // namespace
}  // namespace onelaunch::cli
