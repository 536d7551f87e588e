#include "sandbox/host/emulated_sandbox.h"

#include <gtest/gtest.h>

#include <thread>

#include "tasks/catalog.h"
#include "tests/sandbox/host/hostile_kernels.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

class Emulated : public testing::Test {
 protected:
  void open(const std::string& name, const std::string& variant, const std::string& target = "sm_90a") {
    auto task = tasks::load_task(name, variant);
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    EmulatedOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = cache_.path;
    options.target = target;
    auto sandbox = open_emulated(task_, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
    auto seed = tasks::seed_kernel(task_);
    ASSERT_TRUE(seed) << seed.error().message;
    seed_ = *seed;
  }
  Deadline deadline() const { return Deadline::after(clock_, Seconds(250)); }
  Compiled compile(const std::string& source, const TunableValues& tunables = {}) {
    auto compiled = sandbox_->compile({source, tunables}, deadline());
    EXPECT_TRUE(compiled) << compiled.error().message;
    return compiled ? std::move(*compiled) : Compiled{};
  }
  Grade grade(const Compiled& candidate, const GradeRequest& request = {}) {
    auto grade = sandbox_->grade(candidate, request, deadline());
    EXPECT_TRUE(grade) << grade.error().message;
    return grade ? std::move(*grade) : Grade{};
  }
  void expect_the_seed_to_pass() {
    const Compiled seed = compile(seed_);
    ASSERT_STREQ(name_of(seed.outcome), "passed") << explain(seed.outcome);
    const Grade result = grade(seed);
    ASSERT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
    ASSERT_EQ(result.times.size(), task_.sweep.size());
    for (const Measurement& time : result.times) EXPECT_GT(time.us_median, 0);
    EXPECT_FALSE(result.gates.empty());
    for (const GateResult& gate : result.gates) EXPECT_TRUE(gate.passed);
    EXPECT_GT(score_us(result.times), 0);
  }
  void expect_the_baseline_to_be_right() {
    const auto baseline = sandbox_->baseline("eager", deadline());
    ASSERT_TRUE(baseline) << baseline.error().message;
    EXPECT_EQ(baseline->times.size(), task_.sweep.size());
    EXPECT_GT(baseline->launches, 1);
    for (const GateResult& gate : baseline->gates) EXPECT_TRUE(gate.passed) << gate.tensor << ": " << gate.detail;
    for (const Measurement& time : baseline->times) EXPECT_GT(time.us_median, 0);
  }

  SystemClock clock_;
  TemporaryFolder cache_;
  tasks::Task task_;
  std::unique_ptr<Sandbox> sandbox_;
  std::string seed_;
};

TEST_F(Emulated, PassesTheSeedOfRmsnormLinear) {
  open("rmsnorm_linear", "tiny");
  expect_the_seed_to_pass();
  expect_the_baseline_to_be_right();
}
TEST_F(Emulated, PassesTheSeedOfLlamaBlockDecode) {
  open("llama_block_decode", "");
  expect_the_seed_to_pass();
  expect_the_baseline_to_be_right();
}
TEST_F(Emulated, PassesTheSeedOfKimiLinearDecode) {
  open("kimi_linear_decode", "tiny");
  expect_the_seed_to_pass();
  expect_the_baseline_to_be_right();
}

TEST_F(Emulated, DescribesItsDevice) {
  open("rmsnorm_linear", "tiny");
  EXPECT_EQ(sandbox_->device().kind, "emu");
  EXPECT_EQ(sandbox_->device().target, "sm_90a");
  EXPECT_EQ(sandbox_->device().sms, 132);
  EXPECT_GT(sandbox_->device().stream_tb_s, 0);
  EXPECT_FALSE(sandbox_->device().nvrtc_version.empty());
}

TEST_F(Emulated, HoldsKernelsToTheLimitsOfTheTarget) {
  const std::string large = R"(
#include <onelaunch.cuh>
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) { ol::grid_barrier(args); }
OL_LAUNCH(.block = 256, .grid = ol::per_sm(1), .dynamic_smem = 120000, .sync_bytes = ol::kBarrierBytes);
)";
  for (const auto& [target, sms, takes] : {std::tuple{"sm_80", 108, true}, std::tuple{"sm_89", 128, false},
                                           std::tuple{"sm_100a", 148, true}, std::tuple{"sm_120a", 188, false}}) {
    open("rmsnorm_linear", "tiny", target);
    EXPECT_EQ(sandbox_->device().sms, sms) << target;
    EXPECT_FALSE(sandbox_->device().warnings.empty()) << "that nothing was measured there";
    EXPECT_STREQ(name_of(compile(seed_).outcome), "passed") << target;
    const Compiled compiled = compile(large);
    EXPECT_EQ(std::string(name_of(compiled.outcome)) == "passed", takes) << target << ": " << explain(compiled.outcome);
    const bool says_limit = explain(compiled.outcome).find("101376") != std::string::npos;
    EXPECT_EQ(says_limit, !takes) << target << ": " << explain(compiled.outcome);
  }
}

TEST_F(Emulated, RunsASeedOnTheLimitsOfAnotherCard) {
  open("rmsnorm_linear", "tiny", "sm_120a");
  expect_the_seed_to_pass();
}

TEST_F(Emulated, CompilesTheRoutedSeedForOtherCards) {
  for (const char* target : {"sm_80", "sm_89", "sm_100a", "sm_120a"}) {
    open("kimi_linear_decode", "tiny", target);
    const Compiled seed = compile(seed_);
    EXPECT_STREQ(name_of(seed.outcome), "passed") << target << ": " << explain(seed.outcome);
  }
}

TEST_F(Emulated, CompilesOnceAndThenComesFromTheCache) {
  open("rmsnorm_linear", "tiny");
  EXPECT_FALSE(compile(seed_).cached);
  const Compiled again = compile(seed_);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.source_sha256.size(), 64u);
  EXPECT_GT(again.resources.registers, 0);
}

TEST_F(Emulated, PassesTunablesToTheCompilerAndRefusesUnknownOnes) {
  open("rmsnorm_linear", "tiny");
  const Compiled wide = compile(seed_, {{"BLOCK", "256"}});
  ASSERT_STREQ(name_of(wide.outcome), "passed") << explain(wide.outcome);
  EXPECT_EQ(wide.launch.block, 256u);
  EXPECT_EQ(wide.tunables.at("BLOCK"), "256");
  EXPECT_STREQ(name_of(compile(seed_, {{"NO_SUCH", "1"}}).outcome), "refused");
  EXPECT_STREQ(name_of(compile(seed_, {{"BLOCK", "7"}}).outcome), "refused");
  EXPECT_STREQ(name_of(compile(std::string("int x;\0 int y;", 14)).outcome), "refused");
}

TEST_F(Emulated, ReportsCompileErrorsAtTheCandidatesOwnLine) {
  open("rmsnorm_linear", "tiny");
  const Compiled broken = compile("#include <onelaunch.cuh>\nOL_LAUNCH(.block = 32, .grid = 1)\nint x = no_such_name;\n");
  const CompileFailed* failed = std::get_if<CompileFailed>(&broken.outcome);
  ASSERT_NE(failed, nullptr) << explain(broken.outcome);
  EXPECT_NE(failed->log.find("kernel.cu(3)"), std::string::npos) << failed->log;
}

TEST_F(Emulated, RefusesDeclarationsThatCannotRunWithTheNumbers) {
  open("rmsnorm_linear", "tiny");
  const auto message = [this](const std::string& launch, const std::string& body) {
    const Compiled compiled = compile("#include <onelaunch.cuh>\nOL_LAUNCH(" + launch +
                                      ")\nextern \"C\" __global__ void megakernel(const __grid_constant__ ol::Args args) {" +
                                      body + "}\n");
    const Refused* refused = std::get_if<Refused>(&compiled.outcome);
    return refused != nullptr ? refused->rule + ": " + refused->message : explain(compiled.outcome);
  };
  EXPECT_NE(message(".block = 2048, .grid = 1", "").find("2048"), std::string::npos);
  EXPECT_NE(message(".block = 64, .grid = 100000", "").find("grid: the grid of 100000"), std::string::npos);
  EXPECT_NE(message(".block = 64, .grid = 1, .dynamic_smem = 300000", "").find("300000 dynamic"), std::string::npos);
  EXPECT_NE(message(".block = 64, .grid = 1, .sync_bytes = 2u << 20", "").find("2097152"), std::string::npos);
  const Compiled bare = compile("#include <onelaunch.cuh>\nOL_LAUNCH(.block = 64, .grid = 1)\nextern \"C\" __global__ void megakernel(float* y) {}\n");
  EXPECT_NE(explain(bare.outcome).find("refused (parameters)"), std::string::npos) << explain(bare.outcome);
  const std::string hungry =
      "float v[200]; for (int i = 0; i < 200; ++i) v[i] = __bfloat162float(args.w[i * threadIdx.x]);\n"
      "#pragma unroll\nfor (int k = 0; k < 3; ++k)\n#pragma unroll\nfor (int i = 0; i < 200; ++i) v[i] = v[i] * v[(i + 7) % 200] + v[(i + 91) % 200];\n"
      "float s = 0; for (int i = 0; i < 200; ++i) s = s * v[i] + v[199 - i]; args.y[threadIdx.x] = __float2bfloat16_rn(s);";
  EXPECT_NE(message(".block = 1024, .grid = 1", hungry).find("registers: "), std::string::npos)
      << message(".block = 1024, .grid = 1", hungry);
}

TEST_F(Emulated, GradesTheSameWithTheSameSeed) {
  open("rmsnorm_linear", "tiny");
  const Compiled seed = compile(seed_);
  const Grade first = grade(seed, {.seed = 3}), second = grade(seed, {.seed = 3});
  ASSERT_EQ(first.times.size(), 1u);
  EXPECT_EQ(first.times[0].raw_us, second.times[0].raw_us);
  EXPECT_EQ(first.gates.at(0).got, second.gates.at(0).got);
}

TEST_F(Emulated, GradesOnNewWeightsWhenTold) {
  open("rmsnorm_linear", "tiny");
  const std::string mark = "OL_PHASE(\"norm\");";
  const std::size_t at = seed_.find(mark);
  ASSERT_NE(at, std::string::npos);
  std::string telling = seed_;
  telling.replace(at, mark.size(), "if (blockIdx.x + threadIdx.x == 0) printf(\"%f \", __bfloat162float(args.w[0]));");
  const Compiled kernel = compile(telling);
  const Grade before = grade(kernel, {.seed = 3});
  ASSERT_TRUE(sandbox_->use_weights(99));
  const Grade after = grade(kernel, {.seed = 3});
  EXPECT_STREQ(name_of(after.outcome), "passed") << explain(after.outcome);
  EXPECT_FALSE(before.printed.empty());
  EXPECT_NE(before.printed, after.printed);
}

TEST_F(Emulated, RunsSeveralSchedules) {
  open("rmsnorm_linear", "tiny");
  const Grade result = grade(compile(seed_), {.schedules = 3});
  EXPECT_STREQ(name_of(result.outcome), "passed") << explain(result.outcome);
}

TEST_F(Emulated, StopsWhenInterruptedAndWorksAgainAfterwards) {
  open("rmsnorm_linear", "tiny");
  const Compiled endless = compile(hostile_kernel("spins_forever"));
  ASSERT_STREQ(name_of(endless.outcome), "passed") << explain(endless.outcome);
  std::atomic<bool> done{false};
  std::thread other([&] {
    // Interrupting is only felt by work in progress, so it is repeated until the grade has ended.
    while (!done) sandbox_->interrupt(), std::this_thread::yield();
  });
  const auto result = sandbox_->grade(endless, {}, deadline());
  done = true;
  other.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::unavailable);
  EXPECT_STREQ(name_of(grade(compile(seed_)).outcome), "passed");
}

TEST_F(Emulated, CompilesInOneThreadWhileItGradesInAnother) {
  open("rmsnorm_linear", "tiny");
  const Compiled seed = compile(seed_);
  std::thread other([&] {
    for (const char* block : {"64", "256", "512"}) EXPECT_STREQ(name_of(compile(seed_, {{"BLOCK", block}}).outcome), "passed");
  });
  EXPECT_STREQ(name_of(grade(seed).outcome), "passed");
  other.join();
}

TEST_F(Emulated, KnowsNoOtherBaseline) {
  open("rmsnorm_linear", "tiny");
  const auto baseline = sandbox_->baseline("torch", deadline());
  ASSERT_FALSE(baseline);
  EXPECT_NE(baseline.error().message.find("eager"), std::string::npos);
}

TEST(OpenEmulated, NamesAMissingWorker) {
  const SystemClock clock;
  const tasks::Task task;
  EmulatedOptions options;
  options.worker = "/nonexistent/onelaunch-worker";
  const auto sandbox = open_emulated(task, options, clock);
  ASSERT_FALSE(sandbox);
  EXPECT_NE(sandbox.error().message.find("/nonexistent/onelaunch-worker"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::sandbox
