// The microbenchmarks on a worker that emulates a GPU, with sizes that it can bear.
#include "sandbox/host/microbench.h"

#include <gtest/gtest.h>

#include "sandbox/host/compiler.h"
#include "sandbox/host/cuda_sandbox.h"
#include "sandbox/host/harness_kernels.h"
#include "sandbox/host/microbench_kernels.h"
#include "tasks/catalog.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

class MicrobenchOnAnEmulatedGpu : public testing::Test {
 protected:
  ModuleSpec compiled(const char* name, const std::string& source, const std::string& target) {
    auto compiler = Compiler::start(ONELAUNCH_WORKER_PATH, folder_.path / "cache", clock_);
    EXPECT_TRUE(compiler) << compiler.error().message;
    CompileJob job;
    job.source = source;
    job.options = {"--gpu-architecture=" + target, "--std=c++20"};
    auto done = (*compiler)->compile(std::move(job), deadline(), interrupts_);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->reply.status, CompileReply::Status::compiled) << done->reply.log;
    return {name, done->reply.ptx, done->reply.cubin};
  }

  Result<Ceilings> measure(const MicrobenchPlan& plan) {
    auto session = DeviceSession::start(ONELAUNCH_WORKER_PATH, "emu", clock_, interrupts_);
    if (!session) return because(session.error());
    const MicrobenchModules modules{compiled(kMicrobenchModule, source_, "sm_90a"),
                                    compiled(kHarnessModule, harness_source(), "sm_90a")};
    return run_microbench(*session, modules, facts(), plan, clock_, deadline());
  }

  static DeviceFacts facts() {
    DeviceFacts facts;
    facts.name = "small", facts.target = "sm_90a", facts.uuid = "GPU-1", facts.driver_version = "1.2";
    facts.sms = 3, facts.shared_per_block = 232448;
    facts.l2_bytes = 64 << 10, facts.memory_free_bytes = 1 << 20;
    return facts;
  }
  static MicrobenchPlan small_plan(bool complete) {
    MicrobenchPlan plan = microbench_plan(facts(), complete);
    plan.samples = 2, plan.warm_up = 1, plan.barriers = 8, plan.launches = 4;
    for (Footprint& footprint : plan.footprints) footprint.rounds = std::min(footprint.rounds, 3u);
    return plan;
  }
  Deadline deadline() const { return Deadline::after(clock_, Seconds(250)); }

  SystemClock clock_;
  Interrupts nobody_;
  const Interrupts::Scope interrupts_{nobody_};
  TemporaryFolder folder_;
  std::string source_ = microbench_source();
};

TEST_F(MicrobenchOnAnEmulatedGpu, EveryMethodReadsTheSameDataAndEveryCeilingIsFound) {
  const auto found = measure(small_plan(true));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->methods.size(), 6u);  // three methods on all data and on half of L2
  for (const StreamRate& rate : found->methods) {
    EXPECT_EQ(rate.skipped, "") << rate.name;
    EXPECT_GT(rate.tb_s, 0) << rate.name;
  }
  EXPECT_GT(found->stream_tb_s, 0);
  EXPECT_GT(found->grid_barrier_us, 0);
  EXPECT_GT(found->launch_us, 0);
  ASSERT_EQ(found->barriers.size(), 2u);
  EXPECT_EQ(found->barriers[1].blocks_per_sm, 2);
  EXPECT_GT(found->barriers[1].us, 0);
  EXPECT_EQ(found->uuid, "GPU-1");
  EXPECT_FALSE(found->measured_at.empty());
}

TEST_F(MicrobenchOnAnEmulatedGpu, AMethodThatReadsSomethingElseIsNoMeasurement) {
  const std::string right = "sum += sum_of(load(data + i, policy));", wrong = "sum += 1 + sum_of(load(data + i, policy));";
  const std::size_t at = source_.find(right);
  ASSERT_NE(at, std::string::npos);
  source_.replace(at, right.size(), wrong);
  const auto found = measure(small_plan(false));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("did not all read the same data"), std::string::npos) << found.error().message;
}

TEST_F(MicrobenchOnAnEmulatedGpu, AMethodThatTheDeviceRefusesIsSkippedWithTheReason) {
  MicrobenchPlan plan = small_plan(true);
  plan.footprints.resize(1);
  plan.methods[1].entry = "ol_bench_read_unknown";
  const std::size_t at = source_.find("extern \"C\" __global__ void ol_bench_fill");
  ASSERT_NE(at, std::string::npos);
  source_.insert(at, "extern \"C\" __global__ void ol_bench_read_unknown(const uint4*, u64, u32, u32, u32* sink) {\n"
                     "  asm volatile(\"nanosleep.u32 1;\\npmevent 1;\");\n  sink[0] = 1;\n}\n");
  const auto found = measure(plan);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE(found->methods[1].skipped.find("pmevent"), std::string::npos) << found->methods[1].skipped;
  EXPECT_EQ(found->methods[1].tb_s, 0);
  EXPECT_GT(found->methods[0].tb_s, 0);
}

TEST_F(MicrobenchOnAnEmulatedGpu, TheKernelsCompileForOlderAndNewerCards) {
  for (const char* target : {"sm_80", "sm_120"}) EXPECT_FALSE(compiled(kMicrobenchModule, source_, target).cubin.empty()) << target;
}

CudaOptions options_of(const TemporaryFolder& folder, const MicrobenchPlan& plan) {
  CudaOptions options;
  options.worker = ONELAUNCH_WORKER_PATH;
  options.cache = folder.path / "cache", options.locks = folder.path / "locks";
  options.role = "emu", options.purpose = "a test";
  options.weight_sets = 1;
  options.ceilings_plan = plan;
  return options;
}

TEST_F(MicrobenchOnAnEmulatedGpu, CeilingsAreKeptAndMeasuredAgainOnlyWhenAskedTo) {
  CudaOptions options = options_of(folder_, small_plan(true));
  const auto first = cuda_ceilings(options, clock_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->modelled);
  const CeilingStore store(options.cache);
  Ceilings marked = *first;
  marked.launch_us = 77;
  ASSERT_TRUE(store.store(marked));
  EXPECT_EQ(cuda_ceilings(options, clock_)->launch_us, 77);
  options.fresh_ceilings = true;
  EXPECT_EQ(cuda_ceilings(options, clock_)->launch_us, first->launch_us);
  EXPECT_EQ(store.find(first->uuid, first->driver_version, clock_.utc_now())->launch_us, first->launch_us);
}

TEST_F(MicrobenchOnAnEmulatedGpu, ASessionTakesWhatIsKeptButTheWholeTableIsMeasured) {
  CudaOptions options = options_of(folder_, small_plan(false));
  const auto task = tasks::load_task("rmsnorm_linear", "tiny");
  ASSERT_TRUE(task);
  {
    const auto sandbox = open_cuda(*task, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    const DeviceInfo& device = (*sandbox)->device();
    EXPECT_GT(device.stream_tb_s, 0);
    EXPECT_GT(device.grid_barrier_us, 0);
    EXPECT_GT(device.launch_us, 0);
  }
  const CeilingStore store(options.cache);
  auto kept = store.find("", "", clock_.utc_now());
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->complete);
  kept->stream_tb_s = 123;
  ASSERT_TRUE(store.store(*kept));
  {
    const auto sandbox = open_cuda(*task, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    EXPECT_EQ((*sandbox)->device().stream_tb_s, 123);
  }
  options.ceilings_plan = small_plan(true);
  const auto table = cuda_ceilings(options, clock_);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_TRUE(table->complete);
  EXPECT_LT(table->stream_tb_s, 123);
}

TEST_F(MicrobenchOnAnEmulatedGpu, ASessionWithoutCeilingsOpensAndWarns) {
  MicrobenchPlan plan = small_plan(false);
  for (ReadMethod& method : plan.methods) method.entry = "nonsense";
  CudaOptions options = options_of(folder_, plan);
  const auto task = tasks::load_task("rmsnorm_linear", "tiny");
  ASSERT_TRUE(task);
  const auto sandbox = open_cuda(*task, options, clock_);
  ASSERT_TRUE(sandbox) << sandbox.error().message;
  ASSERT_EQ((*sandbox)->device().warnings.size(), 1u);
  EXPECT_NE((*sandbox)->device().warnings[0].find("no floor"), std::string::npos);
  EXPECT_FALSE(CeilingStore(options.cache).find("", "", clock_.utc_now())) << "nothing half measured is kept";
}

TEST_F(MicrobenchOnAnEmulatedGpu, TheEmulatorsOwnCeilingsAreItsProfilesAndModelled) {
  const auto ceilings = emulated_ceilings(ONELAUNCH_WORKER_PATH, "sm_90a", clock_);
  ASSERT_TRUE(ceilings) << ceilings.error().message;
  EXPECT_TRUE(ceilings->modelled);
  EXPECT_GT(ceilings->stream_tb_s, 0);
  EXPECT_TRUE(ceilings->methods.empty());
}

}  // namespace
}  // namespace onelaunch::sandbox
