#include "tests/agent/session_fixture.h"

namespace onelaunch::agent {
namespace {

using SessionTest = SessionFixture;

TEST_F(SessionTest, KeepsAFasterCandidateAndPutsItOnDisk) {
  behaviours["1"].us = 80;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::finished);
  EXPECT_EQ(result->best, "c1");
  EXPECT_DOUBLE_EQ(*result->best_us, 80);
  EXPECT_DOUBLE_EQ(*result->seed_us, 100);
  EXPECT_EQ(result->kept, 1);
  EXPECT_TRUE(result->verified);
  EXPECT_EQ(best_source(), "OL_TUNABLE(A, 1, 0, 1, 2, 3)\nmegakernel");
  EXPECT_TRUE(std::filesystem::exists(result->published / "kernel.cu"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/bundle.json"));
}

TEST_F(SessionTest, RevertsASlowerAndRejectsAWrongCandidateWithoutTouchingTheBest) {
  behaviours["1"].us = 120;
  behaviours["2"].grade = sandbox::WrongAnswer{"y[3] is 0"};
  behaviours["3"].compile = sandbox::CompileFailed{"line 2: error"};
  for (const char* value : {"1", "2", "3"}) propose(value);
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->best, "c0");
  EXPECT_EQ(result->kept, 0);
  EXPECT_EQ(result->decisions, 3);
  EXPECT_TRUE(result->published.empty()) << "the seed itself is not published";
  ASSERT_EQ(agent.told.size(), 3u);
  EXPECT_EQ(agent.told[0].verdict, Verdict::revert);
  EXPECT_EQ(agent.told[1].verdict, Verdict::reject);
  EXPECT_EQ(agent.told[1].outcome, "wrong_answer");
  EXPECT_EQ(agent.told[2].outcome, "compile_failed");
}

TEST_F(SessionTest, ComparesEachCandidateWithTheIncumbentOfTheMoment) {
  behaviours["1"].us = 80;
  behaviours["2"].us = 90;
  propose("1");
  propose("2");
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->best, "c1");
  ASSERT_EQ(agent.told.size(), 2u);
  EXPECT_EQ(agent.told[1].incumbent, "c1");
  EXPECT_EQ(agent.told[1].verdict, Verdict::revert);
}

TEST_F(SessionTest, LetsAClearLoserGoAfterAQuickCheck) {
  behaviours["1"].us = 120;
  behaviours["2"].us = 100;
  propose("1");
  propose("2");
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(sandbox.quick_grades, 2);
  EXPECT_EQ(sandbox.grades, 2 + 1 + 1 + 2 + 1) << "controls, seed, c1 quick, c2 quick and full, re-grade";
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::revert);
  EXPECT_FALSE(agent.told[0].us);
  EXPECT_NEAR(*agent.told[0].over_incumbent, 100.0 / 120, 1e-9);
  EXPECT_TRUE(agent.told.at(1).us);
}

TEST_F(SessionTest, RecordsEveryTunableOfEveryCandidate) {
  agent.proposals.push_back({.source = kSeed});
  ASSERT_TRUE(run());
  for (const auto& candidate : events<traces::Candidate>()) EXPECT_EQ(candidate.tunables.at("A"), "0") << candidate.id;
}

TEST_F(SessionTest, RefusesToOpenWhenAControlPasses) {
  sandbox.control = sandbox::Passed{};
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("control"), std::string::npos);
  EXPECT_EQ(events<traces::Candidate>().size(), 0u);
  ASSERT_EQ(events<traces::SessionEnd>().size(), 1u);
  EXPECT_EQ(events<traces::SessionEnd>()[0].reason, "error");
}

TEST_F(SessionTest, RefusesToOpenWhenAControlNeverReachesTheGate) {
  sandbox.control = sandbox::Faulted{.kind = "trap", .message = ""};
  EXPECT_FALSE(run());
}

TEST_F(SessionTest, RefusesToOpenWhenTheSeedIsWrong) {
  behaviours["0"].grade = sandbox::WrongAnswer{"y"};
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("seed"), std::string::npos) << result.error().message;
}

TEST_F(SessionTest, EndsAtTheCapWithItsReserveUsedForTheClosing) {
  agent.endless = true;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::cap);
  EXPECT_TRUE(result->verified);
  EXPECT_GE(result->active_s, wall_s - 10 - 1);
  EXPECT_LE(result->active_s, wall_s);
  EXPECT_GE(result->decisions, 90);
}

TEST_F(SessionTest, EndsAHangingCandidateLongBeforeTheCap) {
  behaviours["1"].grade_s = 1000;
  behaviours["2"].us = 80;
  propose("1");
  propose("2");
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(agent.told.at(0).outcome, "timed_out");
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::reject);
  EXPECT_EQ(result->best, "c2") << "there was time for the next";
}

TEST_F(SessionTest, LeavesACandidateUnjudgedWhenTheCapCutsIt) {
  wall_s = 20;
  behaviours["1"].grade_s = 1000;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::cap);
  EXPECT_EQ(result->decisions, 0);
  EXPECT_EQ(agent.told.at(0).verdict, Verdict::unjudged);
  EXPECT_LE(result->active_s, wall_s);
}

TEST_F(SessionTest, EndsWithItsResultWhenItIsAskedToStop) {
  behaviours["1"].us = 80;
  agent.endless = true;
  sandbox.before_grade = [this] {
    if (sandbox.grades == 6) stop.raise();
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::interrupted);
  EXPECT_EQ(result->best, "c1");
  EXPECT_TRUE(result->verified) << "one wish to stop still lets the session close";
  EXPECT_EQ(events<traces::SessionEnd>().back().reason, "interrupted");
}

TEST_F(SessionTest, GoesOnClosingWhenItIsAskedToStopMeanwhile) {
  behaviours["1"].us = 80;
  propose("1");
  sandbox.before_grade = [this] {
    if (sandbox.weights < 2 || stop.times() > 0) return;  // the re-grade is the one on new weights
    stop.raise();
    sandbox.grade_errors = 1;  // as the wish to stop interrupts what runs
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(stop.times(), 1);
  EXPECT_EQ(result->reason, StopReason::finished);
  EXPECT_TRUE(result->verified);
}

TEST_F(SessionTest, SkipsTheClosingReGradeWhenItIsAskedTwice) {
  agent.endless = true;
  sandbox.before_grade = [this] {
    if (sandbox.grades == 6) stop.raise(), stop.raise();
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::interrupted);
  EXPECT_FALSE(result->verified);
}

TEST_F(SessionTest, RecordsItsOwnFailuresAndTriesAgainWithoutBlamingTheCandidate) {
  behaviours["1"].us = 80;
  propose("1");
  sandbox.before_grade = [this] {
    if (sandbox.grades == 3) sandbox.grade_errors = 2;  // two controls and the seed came before
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->best, "c1");
  EXPECT_EQ(events<traces::InfraError>().size(), 2u);
  EXPECT_EQ(events<traces::InfraError>()[0].candidate, "c1");
}

TEST_F(SessionTest, GivesUpAfterItsOwnFailuresInARow) {
  agent.endless = true;
  sandbox.before_grade = [this] {
    if (sandbox.grades == 3) sandbox.grade_errors = 1000;
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::error);
  EXPECT_EQ(result->decisions, 0);
  EXPECT_FALSE(result->detail.empty());
}

TEST_F(SessionTest, EndsWithTheReasonWhenAKeptKernelCannotBeSaved) {
  behaviours["1"].us = 80;
  propose("1");
  propose("2");
  sandbox.before_grade = [this] {
    if (sandbox.grades == 3) std::filesystem::remove_all(folder.path() / "run");
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::error);
  EXPECT_NE(result->detail.find("saving the best kernel"), std::string::npos) << result->detail;
  EXPECT_EQ(agent.told.size(), 1u) << "a kernel that cannot be kept ends the session";
}

TEST_F(SessionTest, DoesNotPublishAKernelThatFailsItsReGrade) {
  behaviours["1"].us = 80;
  propose("1");
  sandbox.regrade = sandbox::WrongAnswer{"y"};
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->verified);
  EXPECT_TRUE(result->published.empty());
  EXPECT_EQ(events<traces::Regrade>().at(0).outcome, "wrong_answer");
}

TEST_F(SessionTest, CompilesTheNextCandidateBeforeTheFirstIsJudged) {
  agent.ahead = true;
  propose("1");
  propose("2");
  ASSERT_TRUE(run());
  std::vector<std::string> order;
  for (const traces::Record& record : records()) {
    if (const auto* c = std::get_if<traces::Candidate>(&record.event)) order.push_back("propose " + c->id);
    if (const auto* d = std::get_if<traces::Decision>(&record.event)) order.push_back("decide " + d->candidate);
  }
  const std::vector<std::string> expected = {"propose c0", "decide c0", "propose c1",
                                             "propose c2", "decide c1", "decide c2"};
  EXPECT_EQ(order, expected);
}

TEST_F(SessionTest, AttributesEverySecondOfTheSession) {
  behaviours["1"].us = 80;
  propose("1");
  const auto result = run();
  ASSERT_TRUE(result);
  double sum = 0;
  for (const auto& [kind, seconds] : events<traces::SessionEnd>().at(0).attribution_s) sum += seconds;
  EXPECT_NEAR(sum, result->active_s, 1e-6);
  EXPECT_DOUBLE_EQ(result->attribution_s.at("measure"), 0.25 * (3 + 0.125))
      << "seed, quick and full check of c1, re-grade";
}

TEST_F(SessionTest, ContinuesAKilledSessionFromItsLastKeep) {
  behaviours["1"].us = 80;
  behaviours["2"].us = 85;
  propose("1");
  ASSERT_TRUE(run());
  const double spent = folded().active_s;
  propose("2");
  clock.advance(5000);  // between the legs, which does not count
  const auto result = resume();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->best, "c1");
  ASSERT_EQ(agent.history.size(), 2u);
  EXPECT_EQ(agent.history[1].proposal.source, kSeed);
  EXPECT_EQ(agent.told.back().candidate, "c2");
  EXPECT_EQ(agent.told.back().incumbent, "c1");
  const auto resumes = events<traces::Resume>();
  ASSERT_EQ(resumes.size(), 1u);
  EXPECT_NEAR(resumes[0].spent_s, spent, 1e-9);
  EXPECT_LT(result->active_s, wall_s);
  EXPECT_EQ(folded().decisions, 2);
}

TEST_F(SessionTest, SaysWhenNothingIsLeftOfTheCapOfAResumedSession) {
  agent.endless = true;
  ASSERT_TRUE(run());
  const auto result = resume();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::cap);
}

}  // namespace
}  // namespace onelaunch::agent
