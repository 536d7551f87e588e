#include "agent/loop/session_workbench.h"

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "tests/agent/session_fixture.h"

namespace onelaunch::agent {
namespace {

using testing::HasSubstr;

// Does what the test says each time it is asked; a proposal or nothing.
class BenchAgent final : public Agent {
 public:
  std::string name() const override { return "bench"; }
  Result<void> begin(const Brief& brief) override { return bench = brief.workbench, Result<void>(); }
  Result<std::optional<Proposal>> ask(Deadline deadline) override {
    if (asked >= steps.size()) return std::optional<Proposal>();
    return steps[asked++](*bench, deadline);
  }
  void tell(const Report& report) override { told.push_back(report), histories.push_back(bench->history().size()); }
  bool looks_ahead() const override { return false; }

  std::vector<std::function<std::optional<Proposal>(Workbench&, Deadline)>> steps;
  std::size_t asked = 0;
  Workbench* bench = nullptr;
  std::vector<Report> told;
  std::vector<std::size_t> histories;
};

struct SessionWorkbenchTest : SessionFixture {
  Result<SessionResult> work(OpenEmulated open = {}) {
    auto writer = traces::Writer::create(folder.path() / "run", clock);
    EXPECT_TRUE(writer) << writer.error().message;
    auto result = Session(task, kSeed, {sandbox, clock, worker, observer, stop, *writer, std::move(open)}, options()).run();
    EXPECT_TRUE(result) << result.error().message;
    return result;
  }
  void step(std::function<std::optional<Proposal>(Workbench&, Deadline)> what) { worker.steps.push_back(std::move(what)); }
  static Proposal seed_with(const std::string& value) { return {.source = kSeed, .tunables = {{"A", value}}}; }

  BenchAgent worker;
};

TEST_F(SessionWorkbenchTest, SaysHowTheSessionStands) {
  behaviours["1"].us = 80;
  step([](Workbench&, Deadline) { return seed_with("1"); });
  Workbench::Situation then;
  step([&](Workbench& bench, Deadline) { return then = bench.situation(), std::nullopt; });
  ASSERT_TRUE(work());
  EXPECT_EQ(then.decisions, 1);
  EXPECT_EQ(then.kept, 1);
  EXPECT_EQ(then.incumbent, "c1");
  EXPECT_DOUBLE_EQ(then.best_us.value_or(0), 80);
  EXPECT_DOUBLE_EQ(then.seed_us.value_or(0), 100);
  EXPECT_EQ(then.baseline, "eager");
  EXPECT_TRUE(then.modelled);
  EXPECT_EQ(then.wall_s, 120);
  EXPECT_GT(then.used_s, 0);
  EXPECT_LT(then.left_s, 120 - then.used_s);
  EXPECT_GT(then.evaluation_s, 0);
}

TEST_F(SessionWorkbenchTest, HistoryGrowsBeforeTheAgentIsTold) {
  step([](Workbench& bench, Deadline) {
    EXPECT_EQ(bench.history().size(), 1u);
    EXPECT_EQ(bench.source_of("c0").value_or(""), kSeed);
    EXPECT_FALSE(bench.source_of("c1"));
    return seed_with("1");
  });
  step([](Workbench& bench, Deadline) {
    EXPECT_EQ(bench.history().back().candidate, "c1");
    return std::nullopt;
  });
  ASSERT_TRUE(work());
  EXPECT_EQ(worker.histories, std::vector<std::size_t>{2});
}

TEST_F(SessionWorkbenchTest, TrialsAreNoDecisions) {
  step([&](Workbench& bench, Deadline deadline) {
    const int before = sandbox.compiles;
    EXPECT_TRUE(bench.compile(seed_with("2"), deadline));
    EXPECT_EQ(sandbox.compiles, before + 1);
    EXPECT_TRUE(bench.emulate(seed_with("2"), {.check = sandbox::Check::quick}, deadline));
    EXPECT_THAT(bench.profile(seed_with("2"), deadline).value_or(""), HasSubstr("kernel"));
    EXPECT_THAT(bench.microbench(deadline).value_or(""), HasSubstr("4.710 TB/s"));
    return std::nullopt;
  });
  const auto result = work();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->decisions, 0);
  EXPECT_EQ(events<traces::Candidate>().size(), 1u);
}

TEST_F(SessionWorkbenchTest, AttributesTheTimeOfTrials) {
  behaviours["3"].grade_s = 16;
  step([&](Workbench& bench, Deadline deadline) {
    clock.advance(4);
    EXPECT_TRUE(bench.emulate(seed_with("3"), {}, deadline));
    bench.record(traces::Wait{.what = "provider: overloaded", .seconds = 3});
    return std::nullopt;
  });
  const auto result = work();
  ASSERT_TRUE(result);
  EXPECT_GE(result->attribution_s.at("gate"), 16);
  EXPECT_DOUBLE_EQ(result->attribution_s.at("model"), 1);
  EXPECT_DOUBLE_EQ(result->attribution_s.at("provider_retry"), 3);
}

TEST_F(SessionWorkbenchTest, NothingOutlivesTheTimeForWork) {
  behaviours["3"].grade_s = 1000;
  step([&](Workbench& bench, Deadline) {
    const auto grade = bench.emulate(seed_with("3"), {}, Deadline::after(clock, Seconds(5000)));
    EXPECT_FALSE(grade);
    EXPECT_THAT(grade.error().message, HasSubstr("time for it is over"));
    EXPECT_LE(bench.situation().used_s, 120);
    EXPECT_FALSE(bench.compile(seed_with("1"), Deadline::after(clock, Seconds(5000))));
    return std::nullopt;
  });
  const auto result = work();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::cap);
  EXPECT_TRUE(result->verified);
}

TEST_F(SessionWorkbenchTest, BeginsNothingOnceTheSessionIsAskedToStop) {
  step([&](Workbench& bench, Deadline deadline) {
    stop.raise();
    EXPECT_TRUE(bench.stopping());
    const auto compiled = bench.compile(seed_with("1"), deadline);
    EXPECT_FALSE(compiled);
    EXPECT_THAT(compiled.error().message, HasSubstr("asked to stop"));
    return std::nullopt;
  });
  ASSERT_TRUE(work());
}

TEST_F(SessionWorkbenchTest, AnInterruptEndsWhatIsRunning) {
  step([&](Workbench& bench, Deadline deadline) {
    // The fake goes on until it is interrupted, as the real ones do.
    sandbox.before_grade = [&] {
      bench.interrupt();
      while (sandbox.interrupts == 0) std::this_thread::yield();
    };
    sandbox.grade_errors = 1;
    const auto grade = bench.emulate(seed_with("1"), {}, deadline);
    sandbox.before_grade = nullptr;
    EXPECT_FALSE(grade);
    EXPECT_THAT(grade.error().message, HasSubstr("cancelled"));
    EXPECT_TRUE(bench.emulate(seed_with("1"), {}, deadline)) << "later calls work again";
    return std::nullopt;
  });
  ASSERT_TRUE(work());
  EXPECT_TRUE(events<traces::InfraError>().empty());
}

TEST_F(SessionWorkbenchTest, ALostWorkerIsGivenASecondTryAndRecorded) {
  step([&](Workbench& bench, Deadline deadline) {
    sandbox.compile_errors = 1;
    EXPECT_TRUE(bench.compile(seed_with("1"), deadline));
    return std::nullopt;
  });
  ASSERT_TRUE(work());
  ASSERT_EQ(events<traces::InfraError>().size(), 1u);
  EXPECT_THAT(events<traces::InfraError>()[0].what, HasSubstr("for the agent"));
}

TEST_F(SessionWorkbenchTest, OnAGpuTheEmulatorIsOpenedBesideIt) {
  sandbox.become_gpu("GPU-1");
  int opened = 0;
  fakes::FakeClock other_clock;
  step([&](Workbench& bench, Deadline deadline) {
    const int grades = sandbox.grades;
    EXPECT_TRUE(bench.emulate(seed_with("1"), {}, deadline));
    EXPECT_TRUE(bench.emulate(seed_with("2"), {}, deadline));
    EXPECT_EQ(sandbox.grades, grades) << "the GPU was left alone";
    return std::nullopt;
  });
  wall_s = 3600;
  ASSERT_TRUE(work([&](const tasks::Task&) -> Result<std::unique_ptr<sandbox::Sandbox>> {
    ++opened;
    return std::make_unique<fakes::FakeSandbox>(other_clock);
  }));
  EXPECT_EQ(opened, 1);
}

TEST_F(SessionWorkbenchTest, KeepsWhatIsStored) {
  step([&](Workbench& bench, Deadline) {
    const std::string sha256 = bench.store("notes");
    EXPECT_EQ(bench.stored(sha256).value_or(""), "notes");
    EXPECT_FALSE(bench.stored(std::string(64, '0')));
    bench.record(traces::ToolCall{.id = "x1", .name = "notes", .arguments_sha256 = sha256});
    return std::nullopt;
  });
  ASSERT_TRUE(work());
  EXPECT_EQ(events<traces::ToolCall>().size(), 1u);
}

}  // namespace
}  // namespace onelaunch::agent
