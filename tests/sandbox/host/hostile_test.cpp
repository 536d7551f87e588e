// One kernel for each sin in tests/hostile: each must be rejected, and for its own reason.

#include <gtest/gtest.h>

#include "sandbox/host/emulated_sandbox.h"
#include "tasks/catalog.h"
#include "tests/sandbox/host/hostile_kernels.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    auto task = tasks::load_task("rmsnorm_linear", "tiny");
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    EmulatedOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = cache_.path;
    options.weight_seed = 11;
    options.grade_limits.launch_s = 20;
    options.grade_limits.instructions = 20'000'000;
    auto sandbox = open_emulated(task_, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
  }
  Deadline deadline() const { return Deadline::after(clock_, Seconds(100)); }

  // Compiles and, if the static gate lets it through, grades.
  Outcome judge(const std::string& name) {
    auto compiled = sandbox_->compile({hostile_kernel(name), {}}, deadline());
    EXPECT_TRUE(compiled) << compiled.error().message;
    if (!compiled || !std::holds_alternative<Passed>(compiled->outcome)) return compiled ? compiled->outcome : Passed{};
    auto grade = sandbox_->grade(*compiled, {.seed = 5}, deadline());
    EXPECT_TRUE(grade) << grade.error().message;
    if (!grade) return Passed{};
    grade_ = std::move(*grade);
    return grade_.outcome;
  }
  void expect_wrong(const std::string& name, const std::string& test) {
    const Outcome outcome = judge(name);
    EXPECT_STREQ(name_of(outcome), "wrong_answer") << explain(outcome);
    EXPECT_TRUE(grade_.times.empty());
    ASSERT_FALSE(grade_.gates.empty());
    EXPECT_FALSE(grade_.gates[0].passed);
    if (!test.empty()) {
      EXPECT_EQ(grade_.gates[0].test, test) << grade_.gates[0].detail;
    }
  }
  void expect_fault(const std::string& name, std::initializer_list<const char*> kinds) {
    const Outcome outcome = judge(name);
    const Faulted* faulted = std::get_if<Faulted>(&outcome);
    ASSERT_NE(faulted, nullptr) << name_of(outcome) << ": " << explain(outcome);
    EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(), [&](const char* kind) { return faulted->kind == kind; }))
        << explain(outcome);
  }
  void expect_refusal(const std::string& name, const std::string& rule, const std::string& word) {
    const Outcome outcome = judge(name);
    const Refused* refused = std::get_if<Refused>(&outcome);
    ASSERT_NE(refused, nullptr) << name_of(outcome) << ": " << explain(outcome);
    EXPECT_EQ(refused->rule, rule);
    EXPECT_NE(refused->message.find(word), std::string::npos) << refused->message;
  }

  SystemClock clock_;
  TemporaryFolder cache_;
  tasks::Task task_;
  std::unique_ptr<Sandbox> sandbox_;
  Grade grade_;
};

TEST_F(Hostile, KernelsDifferFromAnHonestOneThatPasses) {
  const Outcome outcome = judge("honest");
  EXPECT_STREQ(name_of(outcome), "passed") << explain(outcome);
  ASSERT_EQ(grade_.times.size(), 1u);
  EXPECT_GT(grade_.times[0].us_median, 0);
  EXPECT_TRUE(grade_.times[0].modelled);
}

TEST_F(Hostile, ReturningAtOnceLeavesOutputsUnwritten) { expect_wrong("returns_at_once", "unwritten"); }
TEST_F(Hostile, ZerosAreNoAnswer) { expect_wrong("writes_zeros", ""); }
TEST_F(Hostile, NanIsNoAnswer) { expect_wrong("writes_nan", "finite"); }
TEST_F(Hostile, ASkippedTailIsCounted) {
  expect_wrong("skips_the_tail", "unwritten");
  EXPECT_EQ(grade_.gates[0].got, 37);
  EXPECT_EQ(grade_.gates[0].index, 256u - 37u);
}
TEST_F(Hostile, AnAnswerKeptInScratchIsStale) { expect_wrong("keeps_a_stale_answer", ""); }
TEST_F(Hostile, AnAnswerKeptInSyncIsStale) { expect_wrong("keeps_a_stale_answer_in_sync", ""); }
TEST_F(Hostile, ScratchIsNotZero) { expect_wrong("accumulates_in_scratch", "finite"); }
TEST_F(Hostile, DividingByZeroIsAWrongAnswer) { expect_wrong("divides_by_zero", ""); }
TEST_F(Hostile, PreparedDataMustStayAsPrepared) { expect_wrong("changes_prepared_data", "prepared_unchanged"); }

TEST_F(Hostile, OneElementTooManyIsOutOfBounds) {
  expect_fault("out_of_bounds_by_one", {"out_of_bounds"});
  const Outcome outcome = grade_.outcome;
  EXPECT_NE(explain(outcome).find("output y"), std::string::npos) << explain(outcome);
}
TEST_F(Hostile, WeightsCannotBeWritten) { expect_fault("writes_weights", {"read_only_write"}); }
TEST_F(Hostile, MisalignedAccessesAreFound) { expect_fault("misaligned", {"misaligned"}); }
TEST_F(Hostile, TrapsAreReported) { expect_fault("traps", {"trap"}); }
TEST_F(Hostile, ABlockMissingAtTheBarrierIsFound) { expect_fault("deadlock", {"deadlock", "no_progress", "trap"}); }
TEST_F(Hostile, WaitingForNobodyIsFound) { expect_fault("waits_for_nobody", {"deadlock", "no_progress"}); }

TEST_F(Hostile, WorkWithoutEndIsStopped) {
  const Outcome outcome = judge("spins_forever");
  EXPECT_STREQ(name_of(outcome), "timed_out") << explain(outcome);
  // And the next candidate is none the worse for it.
  EXPECT_STREQ(name_of(judge("honest")), "passed");
}

TEST_F(Hostile, AFloodOfPrintfIsCutAndIsNoAnswer) {
  expect_wrong("floods_printf", "unwritten");
  EXPECT_LT(grade_.printed.size(), 20u << 10);
  EXPECT_NE(grade_.printed.find("all work and no play"), std::string::npos);
  EXPECT_NE(grade_.printed.find("left out"), std::string::npos);
}

TEST_F(Hostile, GlobalsThatRememberAreRefused) { expect_refusal("remembers_in_a_global", "mutable_global", "calls"); }
TEST_F(Hostile, ClocksAreRefusedHoweverTheyAreSpelt) { expect_refusal("reads_the_clock", "special_register", "%globaltimer"); }
TEST_F(Hostile, TheHeapIsRefused) { expect_refusal("allocates", "undefined_function", "malloc"); }

}  // namespace
}  // namespace onelaunch::sandbox
