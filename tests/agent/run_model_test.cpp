// What `run` makes of its options for a language model.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "agent/cli/run_setup.h"
#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/fakes/fake_clock.h"
#include "traces/writer.h"

namespace onelaunch::cli {
namespace {

// The environment without any key; put back afterwards by the process's end.
struct RunModel : testing::Test {
  RunModel() {
    for (const char* name : {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
                             "ONELAUNCH_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "ONELAUNCH_BASE_URL"})
      ::unsetenv(name);
    EXPECT_TRUE(replace_file(key_file(), "sk-test-0123456789\n"));
  }
  std::filesystem::path key_file() const { return folder.path() / "key"; }
  RunOptions options(const std::string& agent) const {
    RunOptions all{.task = "rmsnorm_linear", .variant = "tiny", .agent = agent};
    all.model.key_file = key_file().string();
    return all;
  }
  std::string refusal(const RunOptions& options) const {
    const auto plan = plan_run(options, clock);
    if (plan) return "";
    EXPECT_EQ(plan.error().kind, Error::Kind::invalid_input);
    return plan.error().message;
  }
  TemporaryFolder folder;
  fakes::FakeClock clock;
};

TEST_F(RunModel, AMissingKeyIsSaidWithTheVariableThatWouldHoldIt) {
  for (const auto& [agent, variable] : {std::pair{"anthropic:m", "ANTHROPIC_API_KEY"}, {"openai:m", "OPENAI_API_KEY"},
                                        {"gemini:m", "GEMINI_API_KEY"}}) {
    RunOptions without = options(agent);
    without.model.key_file.clear();
    EXPECT_NE(refusal(without).find(variable), std::string::npos) << refusal(without);
  }
}

TEST_F(RunModel, TheKeyIsInThePlanAndInNothingThatIsRecorded) {
  RunOptions all = options("anthropic:claude-opus-5-5");
  all.model.budget_usd = 12.5;
  const auto plan = plan_run(all, clock);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->model);
  EXPECT_EQ(plan->model->credentials.key, "sk-test-0123456789");
  EXPECT_EQ(plan->agent, "anthropic:claude-opus-5-5");
  EXPECT_EQ(plan->session.budget_usd, 12.5);
  EXPECT_EQ(plan->session.prompt_sha256.size(), 64u);
  EXPECT_EQ(plan->run, "traces/runs/20261201T050906Z-rmsnorm_linear-anthropic-claude-opus-5-5");
  ASSERT_TRUE(plan->model->options.prices);
  EXPECT_GT(plan->model->options.prices->output, 1);
}

TEST_F(RunModel, AnAddressLosesItsPasswordBeforeAnybodySeesIt) {
  EXPECT_EQ(shown_agent("compat:m@http://me:secret@host:8000/v1"), "compat:m@http://host:8000/v1");
  EXPECT_EQ(shown_agent("compat:m@http://host/v1/a@b"), "compat:m@http://host/v1/a@b");
  EXPECT_EQ(shown_agent("anthropic:m"), "anthropic:m");
  const auto plan = plan_run(options("compat:org/m@http://me:secret@host:8000/v1"), clock);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->agent, "compat:org/m@http://host:8000/v1");
  EXPECT_EQ(plan->run.string().find("secret"), std::string::npos);
  EXPECT_EQ(plan->run.filename(), "20261201T050906Z-rmsnorm_linear-compat-org-m");
}

TEST_F(RunModel, ABudgetInDollarsNeedsAPrice) {
  RunOptions all = options("compat:nobody-knows@http://localhost:1/v1");
  all.model.budget_usd = 5;
  EXPECT_NE(refusal(all).find("--budget-tokens"), std::string::npos) << refusal(all);
  all.model.budget_usd.reset();
  all.model.budget_tokens = 1'000'000;
  EXPECT_EQ(refusal(all), "");
}

TEST_F(RunModel, LimitsThatMakeNoSenseAreRefused) {
  RunOptions all = options("anthropic:claude-opus-5-5");
  all.model.budget_usd = 0;
  EXPECT_NE(refusal(all).find("--budget-usd"), std::string::npos);
  all = options("anthropic:claude-opus-5-5");
  all.model.max_output_tokens = 10;
  EXPECT_NE(refusal(all).find("--max-output-tokens"), std::string::npos);
  all = options("anthropic:claude-opus-5-5");
  all.model.context_window = 100;
  EXPECT_NE(refusal(all).find("--context-window"), std::string::npos);
}

TEST_F(RunModel, OptionsOfAModelAreRefusedForAgentsThatAreNone) {
  RunOptions all = options("tuner");
  EXPECT_NE(refusal(all).find("anthropic:MODEL"), std::string::npos);
  EXPECT_NE(refusal({.task = "rmsnorm_linear", .agent = "nobody"}).find("compat:MODEL@URL"), std::string::npos);
}

TEST_F(RunModel, AResumedSessionKeepsItsModelAndBudgets) {
  const auto task = plan_run({.task = "rmsnorm_linear", .variant = "tiny"}, clock);
  ASSERT_TRUE(task);
  const std::filesystem::path run = folder.path() / "run";
  {
    auto writer = traces::Writer::create(run, clock);
    ASSERT_TRUE(writer);
    traces::SessionStart start;
    start.task = "rmsnorm_linear", start.variant = "tiny", start.task_sha256 = task->task.sha256;
    start.agent = "anthropic:claude-opus-5-5", start.wall_s = 120, start.min_gain = 0.01, start.budget_tokens = 77'000;
    ASSERT_TRUE(writer->append(start));
    ASSERT_TRUE(writer->append(traces::ModelRequest{.provider = "anthropic", .model = "claude-opus-5-5", .turn = 1}));
  }
  RunOptions resumed{.resume = run.string()};
  resumed.model.key_file = key_file().string();
  const auto plan = plan_run(resumed, clock);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->model);
  EXPECT_EQ(plan->model->options.budget.tokens, 77'000u);
  EXPECT_EQ(plan->talk.size(), 1u) << "what its conversation is taken up from";
}

}  // namespace
}  // namespace onelaunch::cli
