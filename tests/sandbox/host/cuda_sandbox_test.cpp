// The host's side of grading on a GPU, with workers that emulate one: everything but the driver itself.
#include "sandbox/host/cuda_sandbox.h"

#include <gtest/gtest.h>

#include "tasks/catalog.h"
#include "tests/sandbox/host/hostile_kernels.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

class OnAnEmulatedGpu : public testing::Test {
 protected:
  CudaOptions options() const {
    CudaOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = folder_.path / "cache";
    options.locks = folder_.path / "locks";
    options.role = "emu";
    options.purpose = "a test";
    options.weight_sets = 3;
    options.chain_us = 0;  // one round of the weight sets
    options.grade_limits.launch_s = 120;
    return options;
  }
  void open(const std::string& name, const std::string& variant) {
    auto task = tasks::load_task(name, variant);
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    auto sandbox = open_cuda(task_, options(), clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
    auto seed = tasks::seed_kernel(task_);
    ASSERT_TRUE(seed) << seed.error().message;
    seed_ = *seed;
  }
  Deadline deadline() const { return Deadline::after(clock_, Seconds(250)); }
  Compiled compile(const std::string& source) {
    auto compiled = sandbox_->compile({source, {}}, deadline());
    EXPECT_TRUE(compiled) << compiled.error().message;
    return compiled ? std::move(*compiled) : Compiled{};
  }
  Grade grade(const Compiled& candidate, const GradeRequest& request) {
    auto grade = sandbox_->grade(candidate, request, deadline());
    EXPECT_TRUE(grade) << grade.error().message;
    return grade ? std::move(*grade) : Grade{};
  }

  SystemClock clock_;
  TemporaryFolder folder_;
  tasks::Task task_;
  std::unique_ptr<Sandbox> sandbox_;
  std::string seed_;
};

TEST_F(OnAnEmulatedGpu, TheSeedPassesAndIsTimedInPairs) {
  open("rmsnorm_linear", "tiny");
  const Compiled seed = compile(seed_);
  ASSERT_STREQ(name_of(seed.outcome), "passed") << explain(seed.outcome);
  const Grade result = grade(seed, {.against = &seed, .pair_s = 0.001});
  ASSERT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
  ASSERT_EQ(result.times.size(), task_.sweep.size());
  EXPECT_FALSE(result.times[0].modelled);
  ASSERT_TRUE(result.times[0].device);
  EXPECT_EQ(result.times[0].device->launches, 1);
  ASSERT_EQ(result.pairs.size(), task_.sweep.size());
  EXPECT_GE(result.pairs[0].candidate_us.size(), 8u);
  EXPECT_EQ(result.pairs[0].candidate_us.size(), result.pairs[0].against_us.size());
  for (const GateResult& gate : result.gates) EXPECT_TRUE(gate.passed);
}

TEST_F(OnAnEmulatedGpu, TimingEndsAfterAQuickLookAtWhatIsTooSlow) {
  open("llama_block_decode", "");
  const Compiled seed = compile(seed_);
  const Grade result = grade(seed, {.stop_above = GradeRequest::StopAbove{.first_us = 0.001, .score_us = 0.001},
                                    .against = &seed,
                                    .pair_s = 0.001});
  ASSERT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
  ASSERT_EQ(result.times.size(), 1u);
  EXPECT_EQ(result.times[0].context, task_.sweep[0].context);
  EXPECT_TRUE(result.pairs.empty());
}

TEST_F(OnAnEmulatedGpu, ConfirmationsTimeTheTokenAlone) {
  open("rmsnorm_linear", "tiny");
  const Compiled seed = compile(seed_);
  const Grade result = grade(seed, {.all_times = false, .against = &seed, .pair_s = 0.001});
  ASSERT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
  ASSERT_TRUE(result.times.at(0).device);
  EXPECT_GT(result.times[0].us_median, 0);
  EXPECT_EQ(result.times[0].device->cold_us, 0);
  EXPECT_FALSE(result.pairs.empty());
}

TEST_F(OnAnEmulatedGpu, StatesAndCachesAreCarriedThroughTimedChains) {
  open("llama_block_decode", "");
  const Compiled seed = compile(seed_);
  const Grade result = grade(seed, {.check = Check::quick});
  ASSERT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
  EXPECT_EQ(result.times.size(), 1u);
}

TEST_F(OnAnEmulatedGpu, RoutedTasksDrawTheirTokensThroughTheReference) {
  open("kimi_linear_decode", "tiny");
  const Compiled seed = compile(seed_);
  const Grade result = grade(seed, {.check = Check::quick});
  ASSERT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
}

TEST_F(OnAnEmulatedGpu, AWrongKernelIsRejectedBeforeItIsTimed) {
  open("rmsnorm_linear", "tiny");
  const Grade result = grade(compile(hostile_kernel("writes_zeros")), {.check = Check::quick});
  EXPECT_STREQ(name_of(result.outcome), "wrong_answer");
  EXPECT_TRUE(result.times.empty());
}

TEST_F(OnAnEmulatedGpu, BaselinesAreTheUnfusedKernelsCheckedAgainstTheOracle) {
  open("rmsnorm_linear", "tiny");
  for (const char* name : {"eager", "graph"}) {
    const auto baseline = sandbox_->baseline(name, deadline());
    ASSERT_TRUE(baseline) << baseline.error().message;
    EXPECT_EQ(baseline->times.size(), task_.sweep.size());
    EXPECT_FALSE(baseline->gates.empty());
    for (const GateResult& gate : baseline->gates) EXPECT_TRUE(gate.passed) << gate.detail;
  }
  EXPECT_FALSE(sandbox_->baseline("nonsense", deadline()));
}

TEST_F(OnAnEmulatedGpu, ASecondSessionIsToldWhoHasTheDevice) {
  open("rmsnorm_linear", "tiny");
  const auto second = open_cuda(task_, options(), clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::unavailable);
  EXPECT_NE(second.error().message.find("in use by pid " + std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  sandbox_.reset();
  EXPECT_TRUE(open_cuda(task_, options(), clock_));
}

}  // namespace
}  // namespace onelaunch::sandbox
