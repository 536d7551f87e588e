#include "agent/loop/measured_rule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace onelaunch::agent {
namespace {

sandbox::PairedTimes pairs(std::int64_t context, double candidate_us, double against_us, int n = 40) {
  sandbox::PairedTimes paired{.context = context, .candidate_us = {}, .against_us = {}};
  for (int i = 0; i < n; ++i) {
    paired.candidate_us.push_back(candidate_us + 0.001 * (i % 5));
    paired.against_us.push_back(against_us + 0.001 * (i % 5));
  }
  return paired;
}

sandbox::Grade grade_with(std::vector<sandbox::PairedTimes> all) {
  sandbox::Grade grade;
  for (const sandbox::PairedTimes& paired : all) {
    sandbox::Measurement time;
    time.modelled = false;
    time.context = paired.context;
    time.us_median = paired.candidate_us.at(0);
    grade.times.push_back(time);
  }
  grade.pairs = std::move(all);
  return grade;
}

WorkerGain worker(double gain, std::vector<double> contexts = {}) {
  if (contexts.empty()) contexts = {gain, gain};
  WorkerGain made{
      .contexts = {}, .gain = gain, .error = 0.0001, .n = 100, .discarded = 1, .unusable = ""};
  for (std::size_t i = 0; i < contexts.size(); ++i)
    made.contexts.push_back({.context = 1024 * static_cast<std::int64_t>(i + 1),
                             .gain = contexts[i],
                             .error = 0.0002,
                             .n = 50,
                             .discarded = 0});
  return made;
}

std::vector<WorkerGain> workers(const std::vector<double>& gains) {
  std::vector<WorkerGain> all;
  for (const double gain : gains) all.push_back(worker(gain));
  return all;
}

const MeasuredRule kQuiet{
    .min_gain = 0.003,
    .noise = {.half_width = 0.0004, .worker_sd = 0.0003, .context_sd = 0.0004, .n = 500, .workers = 5}};

TEST(WorkerGain, IsTheGeometricMeanOfTheContextsGains) {
  const WorkerGain found = gain_of(grade_with({pairs(32, 100, 102), pairs(96, 200, 202)}));
  EXPECT_EQ(found.unusable, "");
  EXPECT_NEAR(found.gain, (std::log(1.02) + std::log(1.01)) / 2, 1e-5);
  EXPECT_EQ(found.n, 80);
  EXPECT_EQ(found.discarded, 0);
  ASSERT_EQ(found.contexts.size(), 2u);
  EXPECT_NEAR(found.contexts[1].gain, std::log(1.01), 1e-5);
}

TEST(WorkerGain, LeavesOutDisturbedSamplesInPairsAndCountsThem) {
  sandbox::PairedTimes disturbed = pairs(32, 100, 102);
  disturbed.candidate_us[7] = 4000, disturbed.against_us[20] = 150;
  const WorkerGain found = gain_of(grade_with({disturbed}));
  EXPECT_EQ(found.unusable, "");
  EXPECT_EQ(found.n, 38);
  EXPECT_EQ(found.discarded, 2);
  EXPECT_NEAR(found.gain, std::log(1.02), 1e-5);
}

TEST(WorkerGain, IsUnusableWhenTooManyPairsAreDisturbed) {
  sandbox::PairedTimes disturbed = pairs(32, 100, 102);
  for (std::size_t i = 0; i < 12; ++i) disturbed.candidate_us[3 * i] = 400;
  EXPECT_NE(gain_of(grade_with({disturbed})).unusable.find("disturbed"), std::string::npos);
}

TEST(WorkerGain, IsUnusableWithoutEnoughSoundPairs) {
  EXPECT_NE(gain_of(grade_with({})).unusable, "");
  EXPECT_NE(gain_of(grade_with({pairs(32, 100, 102, 6)})).unusable, "");
  sandbox::PairedTimes torn = pairs(32, 100, 102);
  torn.against_us.pop_back();
  EXPECT_NE(gain_of(grade_with({torn})).unusable, "");
  torn = pairs(32, 100, 102);
  torn.candidate_us[5] = NAN;
  EXPECT_NE(gain_of(grade_with({torn})).unusable, "");
}

TEST(WorkerGain, TakesTheStrictInputsWhenWorkDependsOnTheDistribution) {
  sandbox::PairedTimes sniffing = pairs(32, 80, 100);  // fast on nominal inputs ...
  for (std::size_t i = 1; i < sniffing.candidate_us.size(); i += 2) sniffing.candidate_us[i] = 101;  // ... only
  EXPECT_LT(gain_of(grade_with({sniffing})).gain, 0);
}

TEST(WorkerGain, SeesWhenTheTimeAloneIsAnotherOne) {
  sandbox::Grade grade = grade_with({pairs(32, 100, 102)});
  grade.times[0].us_median = 97;
  EXPECT_NEAR(gain_of(grade).slower_beside, 0.03, 0.002);
  EXPECT_EQ(gain_of(grade).faster_beside, 0);
  grade.times[0].us_median = 103;
  EXPECT_NEAR(gain_of(grade).faster_beside, 0.03, 0.002);
  EXPECT_EQ(gain_of(grade).slower_beside, 0);
}

TEST(NoiseFloor, IsTheHalfWidthOfTheMeanOfTheWorkers) {
  const NoiseFloor noise = noise_floor(workers({-0.001, -0.0005, 0, 0.0005, 0.001}));
  EXPECT_NEAR(noise.worker_sd, 0.00079, 1e-5);
  EXPECT_NEAR(noise.half_width, 2.776 * noise.worker_sd / std::sqrt(5.0), 1e-6);
  EXPECT_EQ(noise.workers, 5);
  EXPECT_EQ(noise.n, 500);
}

TEST(NoiseFloor, IsNoLessThanTheGainOfAKernelOverItself) {
  EXPECT_NEAR(noise_floor(workers({0.004, 0.004, 0.004})).half_width, 0.004, 1e-9);
}

TEST(MeasuredRule, AsksForTheLeastGainOrThreeTimesTheNoise) {
  EXPECT_DOUBLE_EQ(kQuiet.least_gain(), 0.003);
  MeasuredRule noisy = kQuiet;
  noisy.noise.half_width = 0.002;
  EXPECT_DOUBLE_EQ(noisy.least_gain(), 0.006);
}

TEST(MeasuredScreen, LetsClearLosersGoAndSendsTheRestToConfirmation) {
  EXPECT_FALSE(screen_measured(worker(-0.02), kQuiet).promising);
  EXPECT_FALSE(screen_measured(worker(0), kQuiet).promising);
  EXPECT_TRUE(screen_measured(worker(0.0025), kQuiet).promising) << "undecided";
  EXPECT_TRUE(screen_measured(worker(0.02), kQuiet).promising);
}

TEST(MeasuredScreen, LetsGoWhatOneContextPaysFor) {
  const Screened screened = screen_measured(worker(0.01, {0.04, -0.02}), kQuiet);
  EXPECT_FALSE(screened.promising);
  EXPECT_NE(screened.reason.find("slower at context 2048"), std::string::npos) << screened.reason;
}

TEST(MeasuredScreen, SaysItsInterval) {
  const Screened screened = screen_measured(worker(0.01), kQuiet);
  EXPECT_LT(screened.low, screened.ratio);
  EXPECT_LT(screened.ratio, screened.high);
  EXPECT_NE(screened.reason.find("100 pairs"), std::string::npos) << screened.reason;
}

TEST(Confirmation, KeepsAGainThatAllWorkersSee) {
  const KeepDecision decision = decide_measured(workers({0.0101, 0.0100, 0.0099, 0.0102, 0.0098}), kQuiet, 1);
  EXPECT_TRUE(decision.keep) << decision.reason;
  EXPECT_NEAR(decision.ratio, std::exp(0.01), 1e-9);
  EXPECT_LT(decision.low, decision.ratio);
  EXPECT_GT(decision.low, 1.009);
  EXPECT_EQ(decision.n, 500);
  EXPECT_EQ(decision.workers, 5);
  EXPECT_EQ(decision.discarded, 5);
}

TEST(Confirmation, RevertsAGainBelowWhatIsAsked) {
  EXPECT_FALSE(decide_measured(workers({0.0029, 0.0028, 0.0029, 0.0028, 0.0029}), kQuiet, 1).keep);
  MeasuredRule noisy = kQuiet;
  noisy.noise.half_width = 0.004;
  const KeepDecision decision = decide_measured(workers({0.0101, 0.0100, 0.0099, 0.0102, 0.0098}), noisy, 1);
  EXPECT_FALSE(decision.keep);
  EXPECT_NE(decision.reason.find("A/A"), std::string::npos) << decision.reason;
}

TEST(Confirmation, RevertsWhenAWorkerSeesNoGain) {
  EXPECT_FALSE(decide_measured(workers({0.02, 0.02, 0.02, 0.02, -0.001}), kQuiet, 1).keep);
}

TEST(Confirmation, RevertsWhenTheWorkersDifferTooMuch) {
  const KeepDecision decision = decide_measured(workers({0.001, 0.02, 0.03, 0.004, 0.015}), kQuiet, 1);
  EXPECT_FALSE(decision.keep);
  EXPECT_NE(decision.reason.find("differ"), std::string::npos) << decision.reason;
}

TEST(Confirmation, AsksForMoreTheMoreTestsASessionHasMade) {
  const auto gains = workers({0.0056, 0.0062, 0.005, 0.0068, 0.0046});
  EXPECT_TRUE(decide_measured(gains, kQuiet, 1).keep) << decide_measured(gains, kQuiet, 1).reason;
  EXPECT_FALSE(decide_measured(gains, kQuiet, 3000).keep);
}

TEST(Confirmation, RevertsWhatOneContextPaysFor) {
  std::vector<WorkerGain> all;
  for (const double noise : {-0.0002, -0.0001, 0.0, 0.0001, 0.0002})
    all.push_back(worker(0.01 + noise, {0.03 + noise, -0.01 + noise}));
  const KeepDecision decision = decide_measured(all, kQuiet, 1);
  EXPECT_FALSE(decision.keep);
  EXPECT_NE(decision.reason.find("context 2048"), std::string::npos) << decision.reason;
}

TEST(Confirmation, NeverKeepsOnFewerWorkers) {
  EXPECT_FALSE(decide_measured(workers({0.05, 0.05, 0.05, 0.05}), kQuiet, 1).keep);
  EXPECT_FALSE(decide_measured(workers({0.05}), kQuiet, 1).keep);
}

TEST(Confirmation, QuarantinesWhatIsFasterInCompanyThanAlone) {
  auto all = workers({0.0101, 0.0100, 0.0099, 0.0102, 0.0098});
  for (WorkerGain& one : all) one.faster_beside = 0.02;
  const KeepDecision decision = decide_measured(all, kQuiet, 1);
  EXPECT_FALSE(decision.keep);
  EXPECT_TRUE(decision.quarantine);
}

TEST(Confirmation, TakesTheSlowerTimeOfWhatIsALittleSlowerInCompany) {
  auto all = workers({0.0101, 0.0100, 0.0099, 0.0102, 0.0098});
  for (WorkerGain& one : all) one.slower_beside = 0.02;
  EXPECT_TRUE(decide_measured(all, kQuiet, 1).keep);
  for (WorkerGain& one : all) one.slower_beside = 0.04;
  EXPECT_TRUE(decide_measured(all, kQuiet, 1).quarantine);
}

TEST(BeyondHope, EndsAConfirmationThatCannotKeep) {
  EXPECT_FALSE(beyond_hope({}, kQuiet));
  EXPECT_TRUE(beyond_hope(workers({-0.0001}), kQuiet));
  EXPECT_FALSE(beyond_hope(workers({0.0001}), kQuiet)) << "one worker alone tells too little";
  EXPECT_TRUE(beyond_hope(workers({0.0001, 0.0002}), kQuiet));
  EXPECT_FALSE(beyond_hope(workers({0.004, 0.005}), kQuiet));
}

TEST(ErrorShare, SumsToTheRateOfTheSession) {
  double sum = 0;
  for (int test = 1; test <= 1000000; ++test) sum += error_share(test);
  EXPECT_LT(sum, kSessionErrorRate);
  EXPECT_NEAR(sum, kSessionErrorRate, 1e-4);
}

}  // namespace
}  // namespace onelaunch::agent
