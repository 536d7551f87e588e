// The whole GPU worker on a real card: what it answers, how kernels fail in it, and that the next worker is well again.
// Prints one JSON line for each number that it takes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "sandbox/protocol/frame.h"
#include "tests/gpu/cuda_bench.h"
#include "tests/gpu/gpu.h"

extern char** environ;

namespace onelaunch::gpu {
namespace {

using namespace sandbox;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHead = "#include <onelaunch.cuh>\nextern \"C\" __global__ void megakernel(const __grid_constant__ ol::Args args) ";

Kernel one_thread(const std::string& body) { return {std::string(kHead) + "{ if (threadIdx.x == 0 && blockIdx.x == 0) { " + body + " } }", 32, 1, 1}; }

class CudaWorkers : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Gpu::missing(); !why.empty()) GTEST_SKIP() << "NO GPU: " << why;
  }
  // The only launch of a kernel in a fresh worker.
  LaunchResult launched(CudaWorker& worker, const Kernel& kernel, double seconds_max = 5) {
    const SetupReply set_up = worker.set_up(kernel);
    EXPECT_EQ(set_up.problem, "");
    RunJob job;
    job.launches = {worker.order(seconds_max)};
    RunReply reply = worker.run(job);
    EXPECT_EQ(reply.problem, "");
    return reply.launches.empty() ? LaunchResult() : std::move(reply.launches[0]);
  }
  static void expect_right(const std::string& y, const CudaWorker& worker) {
    const std::vector<double> got = CudaWorker::numbers(y), want = worker.expected();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 0.02 * std::abs(want[i]) + 0.05) << "y[" << i << "]";
  }
  // A fresh worker computes the right answer: nothing of what went wrong before is left.
  void expect_recovery(const std::string& after) {
    const Seconds start = clock_.now();
    CudaWorker worker;
    ASSERT_EQ(worker.set_up({hostile("honest")}).problem, "");
    RunJob job;
    job.launches = {worker.order()};
    job.reads = {{"y", 0, 512, false}};
    const RunReply reply = worker.run(job);
    ASSERT_EQ(reply.problem, "");
    ASSERT_EQ(reply.reads.size(), 1u);
    expect_right(reply.reads[0], worker);
    std::printf("{\"after\": \"%s\", \"fresh_worker_to_answer_s\": %.3f}\n", after.c_str(), (clock_.now() - start).count());
  }
  static TimeJob timed(const CudaWorker& worker, std::size_t launches, std::size_t runs) {
    TimeJob job;
    job.chains.resize(1);
    job.chains[0].fills = {{"y", true, 3}};
    job.chains[0].launches.assign(launches, worker.order());
    job.chains[0].reads = {{"y", 0, 512, false}};
    job.order.assign(runs, 0);
    job.seconds_max = 30;
    return job;
  }
  static double median_us(const TimeReply& reply, double ChainSample::* us, std::size_t launches) {
    std::vector<double> all;
    for (const ChainSample& sample : reply.samples) all.push_back(sample.*us / static_cast<double>(launches));
    std::ranges::sort(all);
    return all.empty() ? 0 : all[all.size() / 2];
  }

  SystemClock clock_;
};

TEST_F(CudaWorkers, DescribeTheCard) {
  CudaWorker worker;
  const DeviceFacts facts = worker.facts();
  ASSERT_EQ(facts.problem, "");
  EXPECT_THAT(facts.uuid, testing::StartsWith("GPU-"));
  EXPECT_THAT(facts.target, testing::StartsWith("sm_"));
  EXPECT_NE(facts.driver_version, "");
  EXPECT_GT(facts.sms, 0);
  EXPECT_GT(facts.l2_bytes, 1u << 20);
  EXPECT_GT(facts.memory_free_bytes, 1u << 30);
  for (const std::string& warning : facts.warnings) std::printf("{\"warning\": \"%s\"}\n", warning.c_str());
}

TEST_F(CudaWorkers, OfACardThatIsNotThereSaySo) {
  CudaWorker worker("cuda:99");
  EXPECT_THAT(worker.facts().problem, HasSubstr("there is no device cuda:99; this machine has"));
}

TEST_F(CudaWorkers, RunAnHonestKernel) {
  CudaWorker worker;
  const SetupReply set_up = worker.set_up({hostile("honest")});
  ASSERT_EQ(set_up.problem, "");
  EXPECT_THAT(set_up.entries, testing::ElementsAre("megakernel"));
  RunJob job;
  job.fills = {{"y", true, 9}};
  job.launches = {worker.order(), worker.order()};
  job.reads = {{"y", 0, 512, false}, {"y", 0, 512, true}, {"w", 0, 131072, true}};
  const RunReply reply = worker.run(job);
  ASSERT_EQ(reply.problem, "");
  ASSERT_EQ(reply.reads.size(), 3u);
  expect_right(reply.reads[0], worker);
  EXPECT_EQ(reply.reads[1].size(), 64u);
  EXPECT_EQ(worker.ended(), "alive");
}

TEST_F(CudaWorkers, AreConfinedBeforeTheFirstLaunch) {
  CudaWorker worker;
  ASSERT_EQ(worker.set_up({hostile("honest")}).problem, "");
  std::ifstream status("/proc/" + std::to_string(worker.pid()) + "/status");
  const std::string text((std::istreambuf_iterator<char>(status)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("Seccomp:\t2"));
  EXPECT_THAT(text, HasSubstr("NoNewPrivs:\t1"));
}

TEST_F(CudaWorkers, TimeChainsWarmColdAndAsAGraph) {
  constexpr std::size_t kLaunches = 50, kRuns = 20;
  CudaWorker worker;
  ASSERT_EQ(worker.set_up({hostile("honest")}).problem, "");
  for (const char* how : {"warm", "cold", "graph"}) {
    TimeJob job = timed(worker, kLaunches, kRuns);
    job.cold = std::string(how) == "cold";
    job.graph = std::string(how) == "graph";
    for (sandbox::TimedChain& chain : job.chains)
      for (sandbox::LaunchOrder& launch : chain.launches) launch.cooperative = !job.graph;
    const TimeReply reply = worker.time(job);
    ASSERT_EQ(reply.problem, "") << how;
    ASSERT_THAT(reply.faults, IsEmpty());
    ASSERT_EQ(reply.samples.size(), kRuns);
    for (const ChainSample& sample : reply.samples) {
      EXPECT_GT(sample.device_us, 0);
      EXPECT_GT(sample.clocks.sm_mhz, 0u);
      expect_right(sample.reads.at(0), worker);
    }
    std::printf("{\"chain\": \"%s\", \"device_us\": %.3f, \"wall_us\": %.3f, \"enqueue_us\": %.3f, \"sm_mhz\": %u}\n", how,
                median_us(reply, &ChainSample::device_us, kLaunches), median_us(reply, &ChainSample::wall_us, kLaunches),
                median_us(reply, &ChainSample::enqueue_us, kLaunches), reply.samples[0].clocks.sm_mhz);
  }
}

TEST_F(CudaWorkers, TimeAsManyLaunchesAsFitBehindTheGate) {
  CudaWorker worker;
  ASSERT_EQ(worker.set_up({hostile("honest")}).problem, "");
  const TimeReply reply = worker.time(timed(worker, 500, 3));
  ASSERT_EQ(reply.problem, "");
  EXPECT_EQ(reply.samples.size(), 3u);
}

TEST_F(CudaWorkers, CountWhatRan) {
  CudaWorker worker;
  ASSERT_EQ(worker.set_up({hostile("honest")}).problem, "");
  CountJob job;
  job.chain = timed(worker, 25, 1).chains[0];
  for (int again = 0; again < 2; ++again) {
    const CountReply reply = worker.count(job);
    ASSERT_EQ(reply.problem, "");
    EXPECT_EQ(reply.kernels, 25u);
    EXPECT_THAT(reply.names, testing::ElementsAre("megakernel"));
    EXPECT_EQ(reply.memcpys + reply.memsets + reply.graphs, 0u);
    ASSERT_EQ(reply.kernel_us.size(), 25u);
    std::printf("{\"kernel_us_by_cupti\": %.3f}\n", std::accumulate(reply.kernel_us.begin(), reply.kernel_us.end(), 0.0) / 25);
  }
  const TimeReply after = worker.time(timed(worker, 25, 5));
  EXPECT_EQ(after.problem, "");
  std::printf("{\"chain\": \"after counting\", \"device_us\": %.3f}\n", median_us(after, &ChainSample::device_us, 25));
}

TEST_F(CudaWorkers, LaunchClusters) {
  CudaWorker worker;
  Kernel kernel{std::string(kHead) + "{ unsigned size; asm(\"mov.u32 %0, %%cluster_nctaid.x;\" : \"=r\"(size)); if (threadIdx.x == 0) "
                "args.y[blockIdx.x] = __float2bfloat16_rn(float(size)); }", 32, 8, 4};
  CudaWorker asking;
  if (asking.facts().target < "sm_90" && asking.facts().target > "sm_7") GTEST_SKIP() << "this card has no clusters";
  ASSERT_EQ(worker.set_up(kernel).problem, "");
  RunJob job;
  job.launches = {worker.order()};
  job.reads = {{"y", 0, 16, false}};
  const RunReply reply = worker.run(job);
  ASSERT_EQ(reply.problem, "");
  ASSERT_THAT(reply.launches.at(0).faults, IsEmpty());
  EXPECT_EQ(CudaWorker::numbers(reply.reads.at(0)), std::vector<double>(8, 4.0));
}

TEST_F(CudaWorkers, RefuseGridsThatAreNotResident) {
  CudaWorker worker;
  ASSERT_EQ(worker.set_up({hostile("honest"), 1024, 100'000}).problem, "");
  RunJob job;
  job.launches = {worker.order()};
  const RunReply reply = worker.run(job);
  ASSERT_EQ(reply.launches.size(), 1u);
  ASSERT_EQ(reply.launches[0].faults.size(), 1u);
  EXPECT_EQ(reply.launches[0].faults[0].kind, "not_resident");
  EXPECT_THAT(reply.launches[0].faults[0].message, AllOf(HasSubstr("grid of 100000 blocks of 1024 threads"), HasSubstr("blocks fit")));
  EXPECT_EQ(worker.ended(), "alive");
}

TEST_F(CudaWorkers, CutAFloodOfPrintedLinesOff) {
  CudaWorker worker;
  const LaunchResult result = launched(worker, {hostile("floods_printf"), 256, 8});
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_TRUE(result.printed_truncated);
  EXPECT_THAT(result.printed, HasSubstr("all work and no play"));
}

TEST_F(CudaWorkers, SayWhoPrintedWhat) {
  CudaWorker worker;
  const LaunchResult result = launched(worker, one_thread("printf(\"hello %d\\n\", 42);"));
  EXPECT_EQ(result.printed, "hello 42\n");
  EXPECT_FALSE(result.printed_truncated);
}

struct Sin {
  const char* name;
  Kernel kernel;
  std::vector<std::string> kinds;  // any of them
  double seconds_max = 5;
  bool breaks_the_context = true;
};

class CudaSins : public CudaWorkers, public testing::WithParamInterface<Sin (*)()> {};

TEST_P(CudaSins, AreToldAndLeaveNothingBehind) {
  const Sin sin = GetParam()();
  CudaWorker worker;
  const Seconds start = clock_.now();
  const LaunchResult result = launched(worker, sin.kernel, sin.seconds_max);
  ASSERT_EQ(result.faults.size(), 1u) << sin.name << " passed";
  EXPECT_THAT(sin.kinds, testing::Contains(result.faults[0].kind)) << result.faults[0].message;
  std::printf("{\"sin\": \"%s\", \"kind\": \"%s\", \"launch_to_answer_s\": %.3f, \"whole_s\": %.3f}\n", sin.name,
              result.faults[0].kind.c_str(), result.host_seconds, (clock_.now() - start).count());
  EXPECT_EQ(worker.ended(), sin.breaks_the_context ? "exit 0" : "alive");
  expect_recovery(sin.name);
}

// Buffers end at a guard and begin behind up to 2 MiB of slack.
INSTANTIATE_TEST_SUITE_P(
    Each, CudaSins,
    testing::Values(
        +[] { return Sin{"misaligned", {hostile("misaligned"), 32}, {"misaligned"}}; },
        +[] { return Sin{"out_of_bounds_by_one", {hostile("out_of_bounds_by_one"), 288}, {"out_of_bounds"}}; },
        +[] { return Sin{"traps", {hostile("traps")}, {"trap"}}; },
        +[] { return Sin{"writes_weights", {hostile("writes_weights")}, {"out_of_bounds"}}; },
        +[] { return Sin{"spins_forever", {hostile("spins_forever"), 64, 2}, {"time_limit"}, 1}; },
        +[] { return Sin{"waits_for_nobody", {hostile("waits_for_nobody"), 64, 2}, {"time_limit"}, 1}; },
        +[] { return Sin{"deadlock", {hostile("deadlock"), 64, 4}, {"trap", "time_limit"}, 10}; },
        +[] { return Sin{"reads_behind", one_thread("args.y[0] = args.token[256];"), {"out_of_bounds"}}; },
        +[] { return Sin{"writes_far_behind", one_thread("args.y[1 << 20] = args.token[0];"), {"out_of_bounds"}}; },
        +[] { return Sin{"writes_far_before", one_thread("args.y[-(3 << 19)] = args.token[0];"), {"out_of_bounds"}}; },
        +[] { return Sin{"writes_just_before", one_thread("args.y[-1] = args.token[0];"), {"out_of_bounds"}, 5, false}; },
        +[] { return Sin{"null", one_thread("*(volatile int*)nullptr = 1;"), {"out_of_bounds", "trap"}}; }));

TEST_F(CudaWorkers, ThatHangInATimedChainAreToldToo) {
  CudaWorker worker;
  ASSERT_EQ(worker.set_up({hostile("spins_forever"), 64, 2}).problem, "");
  const TimeReply reply = worker.time(timed(worker, 3, 2));
  EXPECT_EQ(reply.problem, "");
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].kind, "time_limit");
  EXPECT_EQ(worker.ended(), "exit 0");
  expect_recovery("a hung chain");
}

TEST_F(CudaWorkers, GiveMemoryFromNoHeap) {
  CudaWorker worker;
  const LaunchResult result = launched(worker, one_thread("void* p = malloc(4 << 20); args.y[0] = __float2bfloat16_rn(p == nullptr ? 1.0f : 2.0f);"));
  EXPECT_THAT(result.faults, IsEmpty());
  RunJob job;
  job.reads = {{"y", 0, 2, false}};
  EXPECT_EQ(CudaWorker::numbers(worker.run(job).reads.at(0)).at(0), 1.0);
}

// A host that was killed closes its end; the kernel is still running.
TEST_F(CudaWorkers, EndWithTheHostInMidLaunch) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  UniqueFd theirs(pair[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const int passed = ::fcntl(theirs.get(), F_DUPFD_CLOEXEC, 10);
  ::posix_spawn_file_actions_adddup2(&actions, passed, 3);
  std::string path = worker_path().string(), role = "cuda:0";
  char* arguments[] = {path.data(), role.data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(::posix_spawn(&pid, path.c_str(), &actions, nullptr, arguments, environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(passed);
  theirs.reset();
  {
    CudaWorker twin;  // makes the messages; the other process gets them
    ASSERT_EQ(twin.set_up({hostile("spins_forever"), 64, 2}).problem, "");
    FrameChannel channel{UniqueFd(pair[0])};
    RunJob job;
    job.launches = {twin.order(600)};
    ASSERT_FALSE(channel.send(1, encode(twin.last_setup()), -1, {}));
    ASSERT_TRUE(std::holds_alternative<Frame>(channel.receive({})));
    ASSERT_FALSE(channel.send(2, encode(job), -1, {}));
    const Patience until_it_runs{&clock_, Deadline::after(clock_, Seconds(1)), -1};
    ASSERT_TRUE(std::holds_alternative<ChannelEnd>(channel.receive(until_it_runs))) << "it must not have answered";
  }
  const Seconds closed = clock_.now();
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  std::printf("{\"closing_to_end_s\": %.3f}\n", (clock_.now() - closed).count());
  expect_recovery("a host that went away");
}

}  // namespace
}  // namespace onelaunch::gpu
