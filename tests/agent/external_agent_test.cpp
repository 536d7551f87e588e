#include "agent/external/external_agent.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <future>

#include "agent/external/local_socket.h"
#include "agent/external/session_client.h"
#include "agent/external/submission.h"
#include "tests/agent/temporary_folder.h"

namespace onelaunch::agent {
namespace {

struct ExternalAgentTest : testing::Test {
  Deadline soon() const { return Deadline::after(clock, Seconds(20)); }
  TemporaryFolder run;
  SystemClock clock;
  StopRequest stop;
};

TEST_F(ExternalAgentTest, PassesASubmissionToTheSessionAndItsReportBack) {
  auto agent = ExternalAgent::listen(run.path(), clock, stop);
  ASSERT_TRUE(agent) << agent.error().message;
  auto client = std::async(std::launch::async, [&] {
    return submit(run.path(),
                  {.source = "kernel", .tunables = {{"A", "2"}}, .parent = "", .note = "why", .prediction_us = 85.0});
  });
  const auto proposal = agent->ask(soon());
  ASSERT_TRUE(proposal && *proposal);
  EXPECT_EQ((*proposal)->source, "kernel");
  EXPECT_EQ((*proposal)->tunables.at("A"), "2");
  EXPECT_EQ((*proposal)->note, "why");
  EXPECT_DOUBLE_EQ(*(*proposal)->prediction_us, 85);
  Report report{
      .candidate = "c1", .proposal = **proposal, .verdict = Verdict::keep, .outcome = "passed", .reason = "faster"};
  report.us = 81.5;
  report.times = {{.context = 32, .us = 81.5}};
  agent->tell(report);
  const auto answer = client.get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->verdict, Verdict::keep);
  EXPECT_DOUBLE_EQ(*answer->us, 81.5);
  EXPECT_EQ(answer->times.size(), 1u);
}

TEST(Submission, CarriesIntervalsAndTheScreenOfMeasuredTimes) {
  Report report{.candidate = "c7", .proposal = {}, .verdict = Verdict::quarantine, .outcome = "passed", .reason = "r"};
  report.modelled = false;
  report.over_incumbent = 1.02, report.low = 1.01, report.high = 1.03;
  report.n = 780, report.workers = 5, report.discarded = 6;
  report.screen = Report::Screen{.ratio = 1.03, .low = 1.02, .high = 1.04, .said = "3 % faster in a first worker"};
  report.times = {{.context = 2048, .us = 98, .low_us = 97, .high_us = 99}};
  const auto back = parse_report(print_report(report));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->verdict, Verdict::quarantine);
  EXPECT_FALSE(back->modelled);
  EXPECT_EQ(back->low, 1.01);
  EXPECT_EQ(back->high, 1.03);
  EXPECT_EQ(back->n, 780);
  EXPECT_EQ(back->workers, 5);
  EXPECT_EQ(back->discarded, 6);
  ASSERT_TRUE(back->screen);
  EXPECT_EQ(back->screen->said, report.screen->said);
  EXPECT_EQ(back->screen->low, 1.02);
  EXPECT_EQ(back->times.at(0).high_us, 99);
}

TEST_F(ExternalAgentTest, LetsOnlyTheOwnerConnect) {
  const auto agent = ExternalAgent::listen(run.path(), clock, stop);
  ASSERT_TRUE(agent);
  struct stat status {};
  ASSERT_EQ(::stat((run.path() / kSocketName).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ExternalAgentTest, AnswersNonsenseAndGoesOnWaiting) {
  auto agent = ExternalAgent::listen(run.path(), clock, stop);
  ASSERT_TRUE(agent);
  auto nonsense = connect_in(run.path());
  ASSERT_TRUE(nonsense);
  ASSERT_TRUE(send_all(nonsense->get(), "{\"v\":\"onelaunch.submit/1\",\"source\":7}"));
  auto good = connect_in(run.path());
  ASSERT_TRUE(good);
  ASSERT_TRUE(send_all(good->get(), print_submission({.source = "good"})));
  const auto proposal = agent->ask(soon());
  ASSERT_TRUE(proposal && *proposal);
  EXPECT_EQ((*proposal)->source, "good");
  const auto refusal = receive_all(nonsense->get(), 4096, Seconds(5));
  ASSERT_TRUE(refusal);
  EXPECT_FALSE(parse_report(*refusal));
}

TEST_F(ExternalAgentTest, SaysWhenNoSessionIsOpen) {
  const auto answer = submit(run.path(), {.source = "kernel"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Error::Kind::unavailable);
}

TEST_F(ExternalAgentTest, ReplacesTheSocketOfAKilledSessionAndRemovesItsOwn) {
  {
    auto left_behind = listen_in(run.path());
    ASSERT_TRUE(left_behind);
  }
  ASSERT_TRUE(std::filesystem::exists(run.path() / kSocketName));
  { ASSERT_TRUE(ExternalAgent::listen(run.path(), clock, stop)); }
  EXPECT_FALSE(std::filesystem::exists(run.path() / kSocketName));
}

TEST_F(ExternalAgentTest, StopsWaitingAtTheDeadline) {
  auto agent = ExternalAgent::listen(run.path(), clock, stop);
  ASSERT_TRUE(agent);
  const auto proposal = agent->ask(Deadline::after(clock, Seconds(0.01)));
  ASSERT_TRUE(proposal);
  EXPECT_FALSE(*proposal);
}

TEST_F(ExternalAgentTest, WorksInAFolderWhosePathIsTooLongForASocket) {
  const auto deep = run.path() / std::string(120, 'x');
  std::filesystem::create_directory(deep);
  EXPECT_TRUE(ExternalAgent::listen(deep, clock, stop));
}

}  // namespace
}  // namespace onelaunch::agent
