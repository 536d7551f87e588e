#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/cli/ceilings_text.h"
#include "agent/cli/kernel_comparison.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_sandbox.h"

namespace onelaunch::cli {
namespace {

TEST(TunableCombinations, AreAllOfThem) {
  const auto all = tunable_combinations({"A=1,2", "B=x", "C=5,6"});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ(all->front(), (sandbox::TunableValues{{"A", "1"}, {"B", "x"}, {"C", "5"}}));
  EXPECT_EQ(all->back(), (sandbox::TunableValues{{"A", "2"}, {"B", "x"}, {"C", "6"}}));
  EXPECT_EQ(tunable_combinations({})->size(), 1u);
}

TEST(TunableCombinations, RefuseWhatNamesNoValue) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"A"}, {"=1"}, {"A="}, {"A=1,"}, {"A=,1"}, {"A=1,,2"}, {"A=1,1"}, {"A=1", "A=2"}}) {
    const auto all = tunable_combinations(wrong);
    ASSERT_FALSE(all) << wrong.back();
    EXPECT_EQ(all.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(all.error().message.find("-D " + wrong.back()), std::string::npos) << all.error().message;
  }
  std::string many = "A=0";
  for (int i = 1; i < 20; ++i) many += "," + std::to_string(i);
  EXPECT_FALSE(tunable_combinations({many, "B" + many.substr(1)}));
}

class CompareKernels : public testing::Test {
 protected:
  CompareKernels() {
    sandbox_.script = [this](const sandbox::TunableValues& values) { return behaviours_[values.empty() ? "" : values.begin()->second]; };
  }
  std::vector<ComparedKernel> compare(const std::vector<std::string>& values) {
    std::vector<KernelVariant> variants;
    for (const std::string& value : values) variants.push_back({"k.cu A=" + value, "megakernel OL_TUNABLE", {{"A", value}}});
    auto kernels = compare_kernels(sandbox_, variants, {}, clock_, [this](const std::string& what) { said_.push_back(what); });
    EXPECT_TRUE(kernels) << kernels.error().message;
    return kernels ? std::move(*kernels) : std::vector<ComparedKernel>{};
  }
  fakes::FakeClock clock_;
  fakes::FakeSandbox sandbox_{clock_};
  std::map<std::string, fakes::FakeSandbox::Behaviour> behaviours_;
  std::vector<std::string> said_;
};

TEST_F(CompareKernels, MeasuredOnesHaveAnIntervalThatHoldsTheTruth) {
  sandbox_.become_gpu("GPU-1");
  behaviours_["1"].us = 100, behaviours_["2"].us = 95, behaviours_["3"].us = 100, behaviours_["4"].us = 110;
  const auto kernels = compare({"1", "2", "3", "4"});
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_TRUE(kernels[0].first);
  EXPECT_FALSE(kernels[0].over_first);
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_TRUE(kernels[i].over_first) << kernels[i].no_ratio;
    EXPECT_TRUE(kernels[i].over_first->interval);
    EXPECT_LT(kernels[i].over_first->low, kernels[i].over_first->ratio);
    EXPECT_GT(kernels[i].over_first->high, kernels[i].over_first->ratio);
  }
  EXPECT_NEAR(kernels[1].over_first->ratio, 100.0 / 95, 0.01);
  EXPECT_GT(kernels[1].over_first->low, 1);
  EXPECT_LT(kernels[3].over_first->high, 1);
  EXPECT_EQ(sandbox_.paired_grades, 3);
  const std::string text = comparison_text(kernels);
  for (const char* words : {"measured alone", "at 2048", "at 16384", "the first", "passed, faster", "passed, slower"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST_F(CompareKernels, ModelledOnesHaveARatioAndNoInterval) {
  behaviours_["1"].us = 100, behaviours_["2"].us = 80;
  const auto kernels = compare({"1", "2"});
  ASSERT_TRUE(kernels[1].over_first);
  EXPECT_DOUBLE_EQ(kernels[1].over_first->ratio, 1.25);
  EXPECT_FALSE(kernels[1].over_first->interval);
  const std::string text = comparison_text(kernels);
  EXPECT_NE(text.find("modelled"), std::string::npos) << text;
  EXPECT_NE(text.find("1.2500x  passed, faster"), std::string::npos) << text;
  EXPECT_EQ(text.find("interval"), std::string::npos) << text;
}

TEST_F(CompareKernels, RejectedOnesAreNamedWithTheirReasonAndNeverTheFirst) {
  sandbox_.become_gpu("GPU-1");
  behaviours_["1"].compile = sandbox::CompileFailed{"kernel.cu(3): error: no such thing"};
  behaviours_["2"].grade = sandbox::WrongAnswer{"y is off"};
  behaviours_["4"].quarantine = "faster than memory";
  const auto kernels = compare({"1", "2", "3", "4", "5"});
  EXPECT_FALSE(kernels[0].passed());
  EXPECT_FALSE(kernels[1].passed());
  EXPECT_TRUE(kernels[2].first);
  EXPECT_FALSE(kernels[3].passed());
  EXPECT_TRUE(kernels[4].passed());
  EXPECT_TRUE(kernels[4].over_first);
  const std::string text = comparison_text(kernels);
  for (const char* words : {"compile_failed", "no such thing", "wrong_answer", "y is off", "quarantined", "faster than memory"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST_F(CompareKernels, WithoutUsablePairsThereIsNoRatioButAReason) {
  sandbox_.become_gpu("GPU-1");
  sandbox_.amend = [](sandbox::Grade& grade, const sandbox::TunableValues&) { grade.pairs.clear(); };
  const auto kernels = compare({"1", "2"});
  EXPECT_TRUE(kernels[1].passed());
  EXPECT_FALSE(kernels[1].over_first);
  EXPECT_NE(comparison_text(kernels).find(kernels[1].no_ratio), std::string::npos);
  EXPECT_FALSE(kernels[1].no_ratio.empty());
}

TEST_F(CompareKernels, SaysWhichOneIsNext) {
  compare({"1", "2"});
  EXPECT_EQ(said_, (std::vector<std::string>{"k.cu A=1 (1 of 2)", "k.cu A=2 (2 of 2)"}));
}

TEST_F(CompareKernels, TheWholeOfItCanBeReadAsJson) {
  sandbox_.become_gpu("GPU-1");
  behaviours_["2"].grade = sandbox::WrongAnswer{"y is off"};
  const auto json = nlohmann::json::parse(comparison_json(compare({"1", "2", "3"})));
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["first"], true);
  EXPECT_EQ(json[0]["times"].size(), 3u);
  EXPECT_EQ(json[0]["times"][0]["kind"], "measured");
  EXPECT_EQ(json[1]["outcome"], "wrong_answer");
  EXPECT_EQ(json[1]["passed"], false);
  EXPECT_LT(json[2]["speed_over_first"]["low"], json[2]["speed_over_first"]["high"]);
  EXPECT_EQ(json[2]["tunables"]["A"], "3");
}

TEST_F(CompareKernels, OurOwnFailureIsAnErrorThatNamesTheKernel) {
  sandbox_.compile_errors = 1;
  const auto kernels = compare_kernels(sandbox_, {{"a.cu", "megakernel OL_TUNABLE", {}}}, {}, clock_, [](const std::string&) {});
  ASSERT_FALSE(kernels);
  EXPECT_NE(kernels.error().message.find("a.cu"), std::string::npos);
}

TEST(CeilingsText, ShowsMethodsByFootprintAndSaysWhatWasSkipped) {
  sandbox::Ceilings ceilings;
  ceilings.device = "NVIDIA H200", ceilings.samples = 9;
  ceilings.stream_tb_s = 4.71, ceilings.grid_barrier_us = 0.95, ceilings.launch_us = 4.2;
  ceilings.methods = {{.name = "loads", .footprint_bytes = 1ull << 30, .tb_s = 4.5},
                      {.name = "ring", .footprint_bytes = 1ull << 30, .tb_s = 4.71},
                      {.name = "loads", .footprint_bytes = 30ull << 20, .resident = true, .tb_s = 6},
                      {.name = "ring", .footprint_bytes = 30ull << 20, .resident = true, .skipped = "too old"}};
  ceilings.barriers = {{1, 0.95, ""}, {2, 1.2, ""}};
  const std::string text = ceilings_text(ceilings);
  for (const char* words : {"1 GiB", "30 MiB in L2", "4.500", "4.710", "6.000", "skipped: too old", "0.950 us", "1.200 us", "clocks not known"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_EQ(text.find("modelled"), std::string::npos);
  ceilings.modelled = true;
  EXPECT_NE(ceilings_text(ceilings).find("nothing was measured"), std::string::npos);
  EXPECT_NE(ceilings_text(ceilings).find("4.710 TB/s (modelled)"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::cli
