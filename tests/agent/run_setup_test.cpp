#include "agent/cli/run_setup.h"

#include <gtest/gtest.h>

#include "tasks/catalog.h"
#include "tests/agent/temporary_folder.h"
#include "tests/fakes/fake_clock.h"
#include "traces/writer.h"

namespace onelaunch::cli {
namespace {

// A run directory whose session was killed right after it began.
struct RunSetup : testing::Test {
  RunSetup() {
    const auto task = tasks::load_task("rmsnorm_linear", "tiny");
    EXPECT_TRUE(task) << task.error().message;
    auto writer = traces::Writer::create(run(), clock);
    EXPECT_TRUE(writer);
    traces::SessionStart start;
    start.task = "rmsnorm_linear";
    start.variant = "tiny";
    start.task_sha256 = task ? task->sha256 : "";
    start.agent = "external";
    start.wall_s = 120;
    start.min_gain = 0.01;
    start.session_seed = 7;
    EXPECT_TRUE(writer->append(start));
    clock.advance(30);
    EXPECT_TRUE(writer->append(traces::Note{.author = "test", .text = "30 s on"}));
  }
  std::filesystem::path run() const { return folder.path() / "run"; }
  TemporaryFolder folder;
  fakes::FakeClock clock;
};

TEST_F(RunSetup, AResumedSessionTakesWhatIsLeftOpenFromItsTrace) {
  const auto plan = plan_run({.resume = run().string()}, clock);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->task.name, "rmsnorm_linear");
  EXPECT_EQ(plan->agent, "external");
  EXPECT_DOUBLE_EQ(plan->session.wall.count(), 120);
  EXPECT_DOUBLE_EQ(plan->session.min_gain, 0.01);
  EXPECT_EQ(plan->session.session_seed, 7u);
  EXPECT_FALSE(plan->seed_source.empty()) << "it was killed before its seed was on record";
  EXPECT_NEAR(plan->continuation->state.active_s, 30, 1e-6);
}

TEST_F(RunSetup, AResumedSessionOfAnotherTaskOrVariantIsRefused) {
  for (const RunOptions& options : {RunOptions{.task = "llama_block_decode", .resume = run().string()},
                                    RunOptions{.variant = "full", .resume = run().string()},
                                    RunOptions{.out = "elsewhere", .resume = run().string()}}) {
    const auto plan = plan_run(options, clock);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, Error::Kind::invalid_input);
  }
}

TEST_F(RunSetup, ASessionWhoseCapIsUsedAsksForMore) {
  const auto used = plan_run({.wall = "20s", .resume = run().string()}, clock);
  ASSERT_FALSE(used);
  EXPECT_NE(used.error().message.find("--wall"), std::string::npos);
  EXPECT_TRUE(plan_run({.wall = "40s", .resume = run().string()}, clock));
}

TEST_F(RunSetup, ANewSessionHasADirectoryOfItsOwn) {
  const auto plan = plan_run({.task = "rmsnorm_linear", .variant = "tiny"}, clock);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->run, "traces/runs/20261201T050906Z-rmsnorm_linear-tuner");
  EXPECT_DOUBLE_EQ(plan->session.wall.count(), 3 * 3600);
  EXPECT_EQ(plan->session.publish, "kernels_generated/rmsnorm_linear");
}

}  // namespace
}  // namespace onelaunch::cli
