// Sessions on a GPU, which is a fake one with noisy times.

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/agent/session_fixture.h"

namespace onelaunch::agent {
namespace {

struct MeasuredSessionTest : SessionFixture {
  MeasuredSessionTest() {
    sandbox.become_gpu("GPU-1");
    wall_s = 600;
  }

  traces::Decision decision_on(const std::string& id) const {
    for (const auto& decision : events<traces::Decision>())
      if (decision.candidate == id) return decision;
    ADD_FAILURE() << "no decision on " << id;
    return {};
  }

  bool noted(const std::string& what) const {
    const auto notes = events<traces::Note>();
    return std::ranges::any_of(notes, [&](const auto& note) { return note.text.find(what) != std::string::npos; });
  }

  // Of the candidate with this value of A: a third of its pairs are hit, on either kind of inputs.
  void disturb(const std::string& value, int times) {
    sandbox.amend = [value, left = times](sandbox::Grade& grade, const sandbox::TunableValues& tunables) mutable {
      if (tunables.at("A") != value || left-- <= 0) return;
      for (sandbox::PairedTimes& pairs : grade.pairs)
        for (std::size_t i = 0; i < pairs.candidate_us.size(); i += 3) pairs.candidate_us[i] *= 3;
    };
  }

  static constexpr int kAa = kConfirmingWorkers;  // paired grades of the A/A test
};

TEST_F(MeasuredSessionTest, KeepsAGainThatFreshWorkersConfirm) {
  behaviours["1"].us = 98;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->best, "c1");
  EXPECT_EQ(result->kind, "measured");
  EXPECT_TRUE(result->verified);
  EXPECT_EQ(sandbox.paired_grades, kAa + 1 + kConfirmingWorkers);
  const traces::Decision decision = decision_on("c1");
  EXPECT_EQ(decision.verdict, "keep");
  EXPECT_NEAR(*decision.ratio, 100.0 / 98, 0.002);
  EXPECT_LT(*decision.low, *decision.ratio);
  EXPECT_GT(*decision.high, *decision.ratio);
  EXPECT_EQ(decision.workers, kConfirmingWorkers);
  EXPECT_GT(decision.n, kConfirmingWorkers * 3 * 40);
  EXPECT_GT(*decision.discarded, 0) << "the noise has spikes";
  EXPECT_NEAR(*decision.screen_ratio, 100.0 / 98, 0.004);
  EXPECT_LT(*decision.screen_low, *decision.screen_high);
  EXPECT_NE(decision.reason.find("5 fresh workers"), std::string::npos) << decision.reason;
}

TEST_F(MeasuredSessionTest, TellsItsAgentTimesIntervalsAndWhatTheScreenSaid) {
  behaviours["1"].us = 98;
  behaviours["2"].us = 120;
  propose("1");
  propose("2");
  ASSERT_TRUE(run());
  ASSERT_EQ(agent.told.size(), 2u);
  const Report& kept = agent.told[0];
  EXPECT_FALSE(kept.modelled);
  ASSERT_EQ(kept.times.size(), 3u);
  EXPECT_GT(kept.times[0].high_us, 0);
  EXPECT_LT(*kept.low, *kept.over_incumbent);
  EXPECT_EQ(kept.workers, kConfirmingWorkers);
  ASSERT_TRUE(kept.screen);
  EXPECT_NE(kept.screen->said.find("first worker"), std::string::npos) << kept.screen->said;
  const Report& slow = agent.told[1];
  EXPECT_EQ(slow.verdict, Verdict::revert);
  EXPECT_EQ(slow.workers, 0);
  EXPECT_EQ(slow.reason, slow.screen->said);
  EXPECT_LT(*slow.high, 1);
}

TEST_F(MeasuredSessionTest, LetsAClearLoserGoAfterOneWorker) {
  behaviours["1"].us = 110;
  propose("1");
  ASSERT_TRUE(run());
  EXPECT_EQ(sandbox.paired_grades, kAa + 1);
  const traces::Decision decision = decision_on("c1");
  EXPECT_EQ(decision.verdict, "revert");
  EXPECT_EQ(decision.workers, 0);
  EXPECT_NEAR(*decision.us, 110, 3) << "timed at every context all the same";
}

TEST_F(MeasuredSessionTest, ComparesWithTheIncumbentOfTheMoment) {
  behaviours["1"].us = 90;
  behaviours["2"].us = 95;
  propose("1");
  propose("2");
  ASSERT_TRUE(run());
  EXPECT_EQ(agent.told.at(1).incumbent, "c1");
  EXPECT_EQ(agent.told[1].verdict, Verdict::revert) << "faster than the seed, slower than c1";
  for (const auto& time : events<traces::Measurement>())
    if (time.candidate == "c2" && time.timing == "paired") {
      EXPECT_EQ(time.against, "c1");
    }
}

TEST_F(MeasuredSessionTest, MeasuresItsNoiseBeforeTheFirstCandidate) {
  propose("1");
  ASSERT_TRUE(run());
  const auto noises = events<traces::Noise>();
  ASSERT_EQ(noises.size(), 1u);
  EXPECT_FALSE(noises[0].modelled);
  EXPECT_EQ(noises[0].workers, kConfirmingWorkers);
  EXPECT_GT(noises[0].half_width, 0);
  EXPECT_LT(noises[0].half_width, 0.003);
  EXPECT_GT(*noises[0].worker_sd, 0);
  std::vector<std::string> order;
  for (const traces::Record& record : records()) {
    if (std::holds_alternative<traces::Baseline>(record.event)) order.push_back("baseline");
    if (std::holds_alternative<traces::Control>(record.event)) order.push_back("control");
    if (std::holds_alternative<traces::Noise>(record.event)) order.push_back("noise");
    if (std::holds_alternative<traces::Decision>(record.event)) order.push_back("decision");
  }
  order.erase(std::unique(order.begin(), order.end()), order.end());
  EXPECT_EQ(order, (std::vector<std::string>{"baseline", "control", "noise", "decision"}));
}

TEST_F(MeasuredSessionTest, AsksForMoreOnANoisyMachine) {
  fakes::TimingNoise rough;
  rough.worker_sd = 0.01;
  sandbox.become_gpu("GPU-1", 5, rough);
  behaviours["1"].us = 99;
  propose("1");
  ASSERT_TRUE(run());
  EXPECT_GT(events<traces::Noise>().at(0).half_width, 0.003);
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::revert);
}

TEST_F(MeasuredSessionTest, RecordsAllTheClockSays) {
  behaviours["1"].us = 98;
  propose("1");
  ASSERT_TRUE(run());
  std::set<std::string> timings;
  int pairs_of_c1 = 0;
  for (const auto& time : events<traces::Measurement>()) {
    EXPECT_EQ(time.kind, "measured");
    timings.insert(time.timing);
    if (time.timing == "primary") {
      EXPECT_EQ(time.launches, 1);
      EXPECT_EQ(time.sm_clock_mhz, 1965);
      EXPECT_EQ(time.sm_clock_mhz_high, 1980);
      EXPECT_EQ(time.memory_clock_mhz, 3201);
      EXPECT_EQ(time.power_w, 410);
      EXPECT_EQ(time.temperature_c, 43);
      EXPECT_EQ(time.throttle, "sw_power_cap");
      EXPECT_NEAR(*time.strict_us, 1.004 * time.us_median, 1e-6);
      for (const auto& beside : {time.token_loop_us, time.wall_us, time.enqueue_us, time.cold_l2_us})
        EXPECT_GT(beside.value_or(0), 0);
    }
    if (time.timing != "paired" || time.candidate != "c1") continue;
    ++pairs_of_c1;
    EXPECT_EQ(time.raw.size(), time.raw_against.size());
    EXPECT_EQ(time.n + *time.discarded, std::ssize(time.raw));
    EXPECT_LE(*time.worker, kConfirmingWorkers);
  }
  EXPECT_EQ(timings, (std::set<std::string>{"primary", "paired"}));
  EXPECT_EQ(pairs_of_c1, 3 * (1 + kConfirmingWorkers));
  const auto devices = events<traces::DeviceSeen>();
  EXPECT_EQ(devices.at(0).uuid, "GPU-1");
  EXPECT_EQ(devices.at(0).driver_version, "580.1");
  EXPECT_EQ(events<traces::SessionStart>().at(0).error_rate, kSessionErrorRate);
}

TEST_F(MeasuredSessionTest, KeepsTheConfirmationsNumber) {
  behaviours["1"].us = 98;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_NEAR(*result->best_us, 98, 2);
  EXPECT_EQ(decision_on("c1").us, result->best_us);
  EXPECT_EQ(events<traces::Checkpoint>().back().us, *result->best_us);
  for (const auto& [context, time] : folded().times_of("c1"))
    EXPECT_EQ(time.n, kConfirmingWorkers * 11) << "samples of all confirming workers at context " << context;
}

TEST_F(MeasuredSessionTest, RunsEveryBaselineAndGoesOnWithoutTheMissing) {
  sandbox.baseline_names = {"eager", "graph", "torch", "torch-graph"};
  sandbox.baseline_errors["torch"] = {Error::Kind::unavailable, "there is no Python with torch"};
  sandbox.baseline_errors["torch-graph"] = {Error::Kind::worker_lost, "it died"};
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->baseline, "graph") << "the most telling that could be run";
  EXPECT_EQ(events<traces::Baseline>().size(), 2u);
  EXPECT_TRUE(noted("baseline torch could not be run: there is no Python with torch"));
  EXPECT_TRUE(noted("baseline torch-graph could not be run"));
  EXPECT_EQ(sandbox.baseline_calls["torch"], 1);
  EXPECT_EQ(sandbox.baseline_calls["torch-graph"], SessionLimits{}.tries) << "a lost worker is worth another try";
}

TEST_F(MeasuredSessionTest, ComparesItsResultWithTheMostTellingBaseline) {
  sandbox.baseline_names = {"torch", "torch-graph", "torch-compile", "eager", "graph"};
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->baseline, "torch-compile");
  EXPECT_EQ(events<traces::SessionEnd>().at(0).baseline, "torch-compile");
  EXPECT_EQ(events<traces::Baseline>().size(), 5u);
}

TEST_F(MeasuredSessionTest, SaysWhatMakesItsDeviceLessTrustworthy) {
  sandbox.warn("another process uses the GPU");
  ASSERT_TRUE(run());
  EXPECT_TRUE(noted("device: another process uses the GPU"));
  EXPECT_NE(observer.said.find("warning: another process uses the GPU"), std::string::npos);
}

TEST_F(MeasuredSessionTest, QuarantinesWhatIsTooFastToBeTrue) {
  behaviours["1"].us = 10;
  behaviours["1"].quarantine = "10 us where reading takes 60 us";
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->best, "c0");
  EXPECT_EQ(result->kept, 0);
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::quarantine);
  EXPECT_NE(agent.told[0].reason.find("reading takes 60 us"), std::string::npos);
  EXPECT_EQ(decision_on("c1").verdict, "quarantine");
  EXPECT_NEAR(*decision_on("c1").ratio, 10, 0.1);
  EXPECT_EQ(sandbox.paired_grades, kAa + 1);
}

TEST_F(MeasuredSessionTest, QuarantinesWhatOnlyOneConfirmingWorkerFindsTooFast) {
  behaviours["1"].us = 90;
  propose("1");
  sandbox.amend = [calls = 0](sandbox::Grade& grade, const sandbox::TunableValues& tunables) mutable {
    if (tunables.at("A") == "1" && ++calls == 3) grade.quarantine = "below the floor";
  };
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->best, "c0");
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::quarantine);
}

TEST_F(MeasuredSessionTest, RefusesToOpenOnASeedThatIsTooFastToBeTrue) {
  behaviours["0"].quarantine = "below the floor";
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("below the floor"), std::string::npos);
}

TEST_F(MeasuredSessionTest, RejectsWhatIsWrongInAConfirmingWorker) {
  behaviours["1"].us = 90;
  propose("1");
  sandbox.amend = [calls = 0](sandbox::Grade& grade, const sandbox::TunableValues& tunables) mutable {
    if (tunables.at("A") != "1" || ++calls != 4) return;
    grade.outcome = sandbox::WrongAnswer{"a race"};
    grade.times.clear(), grade.pairs.clear();
  };
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->best, "c0");
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::reject);
  EXPECT_EQ(agent.told[0].outcome, "wrong_answer");
}

TEST_F(MeasuredSessionTest, ReplacesAWorkerThatWasDisturbed) {
  behaviours["1"].us = 98;
  propose("1");
  disturb("1", 2);
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->best, "c1");
  EXPECT_TRUE(noted("a worker of c1 is replaced: disturbed"));
  EXPECT_EQ(sandbox.paired_grades, kAa + 2 + 1 + kConfirmingWorkers);
}

TEST_F(MeasuredSessionTest, RevertsWhatIsAlwaysTooUnsteadyToCompare) {
  for (const char* value : {"1", "2", "3"}) behaviours[value].us = 90, propose(value);
  disturb("1", 1000);
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::revert);
  EXPECT_NE(agent.told[0].reason.find("cannot be compared"), std::string::npos) << agent.told[0].reason;
  EXPECT_EQ(result->best, "c2") << "the session goes on";
}

TEST_F(MeasuredSessionTest, TakesAGradeWithoutPairsAsItsOwnFailure) {
  behaviours["1"].us = 90;
  propose("1");
  sandbox.amend = [](sandbox::Grade& grade, const sandbox::TunableValues& tunables) {
    if (tunables.at("A") == "1") grade.pairs.clear();
  };
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::unjudged);
  EXPECT_NE(agent.told[0].reason.find("our own failure"), std::string::npos);
}

TEST_F(MeasuredSessionTest, TriesAgainWhenAWorkerIsLostWhileItConfirms) {
  behaviours["1"].us = 95;
  propose("1");
  sandbox.before_grade = [this] {
    if (sandbox.grades == 2 + 1 + kAa + 3) sandbox.grade_errors = 2;
  };
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->best, "c1");
  EXPECT_EQ(events<traces::InfraError>().size(), 2u);
}

TEST_F(MeasuredSessionTest, LetsGoWithoutPairsWhatIsMuchSlowerByItself) {
  sandbox.gives_up = true;
  behaviours["1"].us = 150;
  behaviours["2"].us = 98;
  propose("1");
  propose("2");
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::revert);
  EXPECT_NEAR(*agent.told[0].over_incumbent, 100.0 / 150, 0.02);
  EXPECT_NE(agent.told[0].reason.find("alone"), std::string::npos) << agent.told[0].reason;
  EXPECT_EQ(result->best, "c2");
  EXPECT_EQ(sandbox.paired_grades, kAa + 1 + kConfirmingWorkers);
}

TEST_F(MeasuredSessionTest, LetsGoAfterAQuickLookWhatIsFarSlower) {
  sandbox.looks = true;
  sandbox.contexts = {32, 96};
  behaviours["1"].us = 150;
  propose("1");
  ASSERT_TRUE(run());
  const Report& report = agent.told.at(0);
  EXPECT_EQ(report.verdict, Verdict::revert);
  EXPECT_FALSE(report.us) << "one context is no score";
  ASSERT_EQ(report.times.size(), 1u);
  EXPECT_NEAR(*report.over_incumbent, 100.0 / 150, 0.02);
  EXPECT_NE(report.reason.find("a quick look at context 32"), std::string::npos) << report.reason;
  EXPECT_EQ(sandbox.paired_grades, kAa);
}

TEST_F(MeasuredSessionTest, LeavesACandidateUnjudgedWhenItIsStoppedWhileItConfirms) {
  behaviours["1"].us = 95;
  propose("1");
  propose("2");
  sandbox.before_grade = [this] {
    if (sandbox.grades == 2 + 1 + kAa + 3) stop.raise(), sandbox.grade_errors = 1;
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::interrupted);
  EXPECT_EQ(result->best, "c0");
  EXPECT_EQ(result->decisions, 0);
  ASSERT_EQ(agent.told.size(), 1u);
  EXPECT_EQ(agent.told[0].verdict, Verdict::unjudged);
  EXPECT_TRUE(agent.told[0].screen) << "what was seen is still told";
  EXPECT_TRUE(result->verified);
}

TEST_F(MeasuredSessionTest, StartsNoCandidateThatItCouldNotConfirm) {
  wall_s = 60;
  for (const char* value : {"0", "1"}) behaviours[value].grade_s = 4;
  behaviours["1"].us = 90;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::cap);
  EXPECT_TRUE(agent.told.empty());
  EXPECT_TRUE(result->verified);
  EXPECT_LE(result->active_s, wall_s);
}

TEST_F(MeasuredSessionTest, ConfirmsToTheEndWithinTheCap) {
  wall_s = 200;
  agent.endless = true;
  for (int i = 0; i < 60; ++i) {
    behaviours[std::to_string(i)].us = 100 * std::pow(0.97, i);
    behaviours[std::to_string(i)].grade_s = 2;
  }
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::cap);
  EXPECT_TRUE(result->verified);
  EXPECT_LE(result->active_s, wall_s);
  EXPECT_GT(result->kept, 5);
  for (const Report& report : agent.told) EXPECT_EQ(report.verdict, Verdict::keep) << report.reason;
}

TEST_F(MeasuredSessionTest, MeasuresAllAnewWhenItGoesOnOnAnotherGpu) {
  behaviours["1"].us = 95;
  behaviours["2"].us = 90;
  propose("1");
  ASSERT_TRUE(run());
  sandbox.become_gpu("GPU-2", 77);
  propose("2");
  const int before = sandbox.paired_grades;
  const auto result = resume();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->best, "c2");
  const auto resumes = events<traces::Resume>();
  ASSERT_EQ(resumes.size(), 1u);
  EXPECT_EQ(resumes[0].previous_uuid, "GPU-1");
  EXPECT_EQ(resumes[0].uuid, "GPU-2");
  EXPECT_EQ(events<traces::Noise>().size(), 2u);
  EXPECT_EQ(events<traces::Baseline>().size(), 2u);
  EXPECT_EQ(sandbox.paired_grades - before, kAa + kConfirmingWorkers + 1 + kConfirmingWorkers)
      << "the seed against itself, the incumbent, c2 screened and confirmed";
  EXPECT_EQ(agent.told.back().incumbent, "c1");
  ASSERT_EQ(agent.history.size(), 2u);
  EXPECT_EQ(agent.history[1].verdict, Verdict::keep);
  EXPECT_EQ(agent.history[1].workers, kConfirmingWorkers);
  EXPECT_TRUE(agent.history[1].screen);
}

TEST_F(MeasuredSessionTest, ReportsItsPace) {
  sandbox.compile_s = 0;
  for (const char* value : {"1", "2", "3"}) behaviours[value].us = 120, behaviours[value].grade_s = 4, propose(value);
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(*result->decision_s_median, 4);
  EXPECT_NEAR(*result->experiments_per_hour, 3 * 3600 / result->active_s, 1e-6);
  const auto end = events<traces::SessionEnd>().at(0);
  EXPECT_EQ(end.decision_s_median, result->decision_s_median);
  EXPECT_NEAR(*end.experiments_per_hour, *result->experiments_per_hour, 1e-6);
  EXPECT_DOUBLE_EQ(*decision_on("c2").seconds, 4);
}

TEST_F(MeasuredSessionTest, LeavesWaitingBehindAnotherCandidateOutOfItsPace) {
  agent.ahead = true;
  for (const char* value : {"1", "2", "3"}) behaviours[value].us = 120, behaviours[value].grade_s = 4, propose(value);
  ASSERT_TRUE(run());
  for (const char* id : {"c1", "c2", "c3"}) EXPECT_DOUBLE_EQ(*decision_on(id).seconds, 4) << id;
}

TEST_F(MeasuredSessionTest, CountsTheTimeOfACompileThatOverlapped) {
  agent.ahead = true;
  sandbox.compile_s = 3;  // of each, though the fake clock stands still meanwhile
  for (const char* value : {"1", "2"}) behaviours[value].us = 120, behaviours[value].grade_s = 4, propose(value);
  ASSERT_TRUE(run());
  EXPECT_DOUBLE_EQ(*decision_on("c2").seconds, 3 + 4);
}

TEST_F(MeasuredSessionTest, AttributesEverySecond) {
  behaviours["1"].us = 95;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result);
  double sum = 0;
  for (const auto& [kind, seconds] : result->attribution_s) sum += seconds;
  EXPECT_NEAR(sum, result->active_s, 1e-6);
  EXPECT_DOUBLE_EQ(result->attribution_s.at("measure"), 0.25 * (1 + kAa + 1 + kConfirmingWorkers + 1))
      << "seed, A/A, screen, confirmation, re-grade";
}

TEST_F(MeasuredSessionTest, DoesNotTrustAReGradeThatIsTooFastToBeTrue) {
  behaviours["1"].us = 90;
  propose("1");
  sandbox.amend = [this](sandbox::Grade& grade, const sandbox::TunableValues&) {
    if (sandbox.weights > 1) grade.quarantine = "below the floor";
  };
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->verified);
  EXPECT_TRUE(result->published.empty());
  EXPECT_FALSE(folded().verified());
}

TEST_F(MeasuredSessionTest, KeepsAtMostOneOfTwoHundredCandidatesThatAreTheSeedAgain) {
  wall_s = 3000;
  for (int i = 0; i < 200; ++i) propose(std::to_string(i % 4));
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->decisions, 200);
  EXPECT_LE(result->kept, 1);
}

TEST_F(SessionFixture, DeclaresNoErrorRateAndNoPairsOnModelledTimes) {
  behaviours["1"].us = 80;
  propose("1");
  ASSERT_TRUE(run());
  EXPECT_FALSE(events<traces::SessionStart>().at(0).error_rate);
  EXPECT_TRUE(events<traces::Noise>().at(0).modelled);
  EXPECT_EQ(sandbox.paired_grades, 0);
  for (const auto& time : events<traces::Measurement>()) EXPECT_EQ(time.timing, "primary");
  const auto decisions = events<traces::Decision>();
  EXPECT_EQ(decisions.back().low, decisions.back().ratio) << "modelled times have no spread";
  EXPECT_FALSE(decisions.back().screen_ratio);
}

}  // namespace
}  // namespace onelaunch::agent
