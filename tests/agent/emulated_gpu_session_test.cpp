// A session with measured times through the real sandbox of a GPU, whose workers emulate one.

#include "sandbox/host/cuda_sandbox.h"
#include "tasks/catalog.h"
#include "tests/agent/session_fixture.h"
#include "traces/verify.h"

namespace onelaunch::agent {
namespace {

class EmulatedGpuSession : public testing::Test {
 protected:
  void SetUp() override {
    auto task = tasks::load_task("rmsnorm_linear", "tiny");
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    auto seed = tasks::seed_kernel(task_);
    ASSERT_TRUE(seed) << seed.error().message;
    agent_.source = seed_ = *seed;
    sandbox::CudaOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = folder_.path() / "cache";
    options.locks = folder_.path() / "locks";
    options.role = "emu";
    options.purpose = "a test";
    options.weight_sets = 3;
    options.chain_us = 0;  // one round of the weight sets
    auto sandbox = sandbox::open_cuda(task_, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
  }

  Result<SessionResult> run() {
    auto writer = traces::Writer::create(folder_.path() / "run", clock_);
    EXPECT_TRUE(writer) << writer.error().message;
    SessionOptions options;
    options.wall = Seconds(3600);
    options.harness_version = "0.1.0";
    options.device = "cuda:0";
    options.limits.pair_s = 0.001;  // as few pairs as there may be
    return Session(task_, seed_, {*sandbox_, clock_, agent_, observer_, stop_, *writer}, options).run();
  }

  TemporaryFolder folder_;
  SystemClock clock_;
  tasks::Task task_;
  std::string seed_;
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  fakes::ScriptedAgent agent_;
  fakes::QuietObserver observer_;
  StopRequest stop_;
};

TEST_F(EmulatedGpuSession, KeepsTheFasterAndRevertsTheSlower) {
  const auto propose = [&](const sandbox::TunableValues& values) {
    agent_.proposals.push_back({.source = seed_, .tunables = values, .parent = "", .note = "", .prediction_us = {}});
  };
  propose({{"BLOCK", "256"}});
  propose({{"BLOCK", "64"}});
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::finished) << result->detail;
  ASSERT_EQ(agent_.told.size(), 2u);
  EXPECT_EQ(agent_.told[0].verdict, Verdict::keep) << agent_.told[0].reason;
  EXPECT_EQ(agent_.told[0].workers, kConfirmingWorkers);
  EXPECT_EQ(agent_.told[1].verdict, Verdict::revert) << agent_.told[1].reason;
  EXPECT_EQ(agent_.told[1].workers, 0);
  EXPECT_EQ(result->kind, "measured");
  EXPECT_TRUE(result->verified);
  EXPECT_FALSE(result->baseline.empty());
  const auto verified = traces::verify_trace(folder_.path() / "run");
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_TRUE(verified->ok()) << traces::describe(*verified);
}

}  // namespace
}  // namespace onelaunch::agent
