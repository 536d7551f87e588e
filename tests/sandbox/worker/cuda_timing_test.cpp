#include <gmock/gmock.h>

#include "tests/sandbox/worker/cuda_bench.h"

namespace onelaunch::worker {
namespace {

using fakes::FakeLaunch;
using sandbox::CountJob;
using sandbox::CountReply;
using sandbox::TimedChain;
using sandbox::TimeJob;
using sandbox::TimeReply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TimedChains : public OnAFakeGpu {
 protected:
  static TimedChain chain(std::size_t launches) {
    TimedChain chain;
    chain.launches.assign(launches, order());
    return chain;
  }
  static TimeJob job(std::size_t launches, std::size_t runs = 1) {
    TimeJob job;
    job.chains = {chain(launches)};
    job.order.assign(runs, 0);
    return job;
  }
  // From the sweep or the gate to where the result is read.
  std::vector<std::string> timed_calls() const {
    return fake_.calls_among({"cuCtxResetPersistingL2Cache", "launch ol_sweep", "launch ol_gate", "cuEventRecord", "launch megakernel",
                              "launch megakernel behind the gate", "capture megakernel", "cuGraphUpload", "cuGraphLaunch",
                              "cuEventElapsedTime", "cuMemcpyHtoDAsync", "cuMemcpyDtoDAsync", "cuStreamSynchronize"});
  }
};

TEST_F(TimedChains, HaveNothingButTheirLaunchesBetweenTheEvents) {
  const TimeReply reply = candidate().time(job(2));
  ASSERT_EQ(reply.problem, "");
  EXPECT_THAT(timed_calls(), ElementsAre("cuStreamSynchronize", "launch ol_gate", "cuEventRecord", "launch megakernel behind the gate",
                                         "launch megakernel behind the gate", "cuEventRecord", "cuEventElapsedTime"));
  const auto first = std::ranges::find(fake_.calls, "cuEventRecord");
  const auto last = std::find(first + 1, fake_.calls.end(), "cuEventRecord");
  EXPECT_EQ(last - first, 3) << "any other call between the events";
}

TEST_F(TimedChains, AreTimedByTheEvents) {
  const TimeReply reply = candidate().time(job(3));
  ASSERT_EQ(reply.samples.size(), 1u);
  EXPECT_DOUBLE_EQ(reply.samples[0].device_us, 3 * fakes::FakeDriver::kLaunchMs * 1e3);
  EXPECT_NEAR(reply.samples[0].wall_us, 50'000, 1) << "one look whether it is done";
  EXPECT_DOUBLE_EQ(reply.samples[0].enqueue_us, 0);
}

TEST_F(TimedChains, CarryTheStateOfTheClocks) {
  fake_.throttle_reasons = 0x4;
  const TimeReply reply = candidate().time(job(1));
  ASSERT_EQ(reply.samples.size(), 1u);
  EXPECT_EQ(reply.samples[0].clocks.sm_mhz, 1980u);
  EXPECT_EQ(reply.samples[0].clocks.power_mw, 350'000u);
  EXPECT_EQ(reply.samples[0].clocks.throttle_reasons, 0x4u);
}

TEST_F(TimedChains, AreRestoredBeforeAndReadAfterEachRun) {
  TimeJob two = job(1, 2);
  two.chains[0].fills = {{"y", false, 0}};
  two.chains[0].writes = {{"x", 0, "a"}};
  two.chains[0].copies = {{"x", 0, "y", 16, 1}};
  two.chains[0].reads = {{"x", 0, 1, false}, {"y", 16, 1, false}};
  fake_.on_launch = [](const FakeLaunch& launch) {
    if (launch.kernel == "megakernel") at(launch.words[0])[0] = std::byte{static_cast<unsigned char>('b' + (at(launch.words[0])[0] == std::byte{'b'}))};
    return CUDA_SUCCESS;
  };
  const TimeReply reply = candidate().time(two);
  ASSERT_EQ(reply.samples.size(), 2u);
  for (const auto& sample : reply.samples) EXPECT_THAT(sample.reads, ElementsAre("b", "a"));
}

TEST_F(TimedChains, RunInTheOrderThatIsAskedFor) {
  TimeJob both = job(1);
  both.chains.push_back(chain(4));
  both.order = {1, 0, 0, 1};
  const TimeReply reply = candidate().time(both);
  ASSERT_EQ(reply.samples.size(), 4u);
  std::vector<double> us;
  for (const auto& sample : reply.samples) us.push_back(sample.device_us);
  EXPECT_THAT(us, ElementsAre(500, 125, 125, 500));
}

TEST_F(TimedChains, AreColdAfterTheResetAndThenAPlainRead) {
  TimeJob cold = job(1);
  cold.cold = true;
  cold.chains[0].writes = {{"x", 0, "a"}};
  ASSERT_EQ(candidate().time(cold).problem, "");
  EXPECT_THAT(timed_calls(), ElementsAre("cuMemcpyHtoDAsync", "cuCtxResetPersistingL2Cache", "launch ol_sweep", "cuStreamSynchronize",
                                         "launch ol_gate", "cuEventRecord", "launch megakernel behind the gate", "cuEventRecord",
                                         "cuEventElapsedTime"));
  EXPECT_EQ(fake_.launches.at(0).words.at(1) * 16, 2u << 20) << "twice the cache";
}

TEST_F(TimedChains, AreCapturedOnceAndReplayedAsAGraph) {
  TimeJob graph = job(2, 2);
  graph.graph = true;
  const TimeReply reply = candidate().time(graph);
  ASSERT_EQ(reply.problem, "");
  ASSERT_EQ(reply.samples.size(), 2u);
  EXPECT_DOUBLE_EQ(reply.samples[1].device_us, 250);
  EXPECT_EQ(fake_.calls_among({"capture megakernel"}).size(), 2u);
  EXPECT_EQ(fake_.calls_among({"cuGraphLaunch"}).size(), 2u);
  EXPECT_EQ(fake_.calls_among({"launch megakernel", "launch megakernel behind the gate"}).size(), 0u);
  EXPECT_EQ(fake_.alive.count("graph") + fake_.alive.count("executable graph"), 0u);
}

TEST_F(TimedChains, AreNotLongerThanTheDriversQueue) {
  EXPECT_THAT(candidate().time(job(501)).problem, HasSubstr("a chain of 501 launches; at most 500"));
  EXPECT_THAT(fake_.launches, IsEmpty());
  EXPECT_EQ(candidate_->time(job(500)).problem, "");
}

TEST_F(TimedChains, NeedTheHarnessesOwnKernels) {
  EXPECT_EQ(candidate(false).time(job(1)).problem, "the harness's own kernels were not loaded");
}

TEST_F(TimedChains, EndWhenTheTimeIsUpWithTheSamplesSoFar) {
  TimeJob many = job(1, 100);
  many.seconds_max = 0.12;
  const TimeReply reply = candidate().time(many);
  EXPECT_EQ(reply.problem, "");
  EXPECT_EQ(reply.samples.size(), 3u) << "50 ms each";
}

TEST_F(TimedChains, AreRunAgainWhenTheGateMayNotHaveHeld) {
  bool late = true;
  fake_.on_launch = [&](const FakeLaunch& launch) {
    if (launch.kernel == "megakernel" && std::exchange(late, false)) clock_.advance(1.5);
    return CUDA_SUCCESS;
  };
  const TimeReply reply = candidate().time(job(1));
  ASSERT_EQ(reply.problem, "");
  ASSERT_EQ(reply.samples.size(), 1u);
  EXPECT_LT(reply.samples[0].enqueue_us, 1e6);
  EXPECT_EQ(fake_.calls_among({"launch ol_gate"}).size(), 2u);
}

TEST_F(TimedChains, OnAMachineThatIsTooBusyAreGivenUp) {
  fake_.on_launch = [&](const FakeLaunch& launch) { return clock_.advance(launch.kernel == "megakernel" ? 1.5 : 0), CUDA_SUCCESS; };
  EXPECT_THAT(candidate().time(job(1)).problem, HasSubstr("too busy"));
  EXPECT_FALSE(candidate_->lost());
}

TEST_F(TimedChains, ThatFaultSayHow) {
  int launched = 0;
  fake_.on_launch = [&](const FakeLaunch& launch) {
    if (launch.kernel == "megakernel" && ++launched == 3) fake_.fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    return CUDA_SUCCESS;
  };
  const TimeReply reply = candidate().time(job(2, 5));
  EXPECT_EQ(reply.problem, "");
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].kind, "out_of_bounds");
  EXPECT_THAT(reply.faults[0].message, HasSubstr("megakernel, launched 2 times in a chain"));
  EXPECT_EQ(reply.samples.size(), 1u);
  EXPECT_TRUE(candidate_->lost());
}

TEST_F(TimedChains, OnADeviceThatIsLostInTheMiddleAreOurProblem) {
  int launched = 0;
  fake_.on_launch = [&](const FakeLaunch& launch) {
    if (launch.kernel == "megakernel" && ++launched == 3) fake_.fault(CUDA_ERROR_ECC_UNCORRECTABLE);
    return CUDA_SUCCESS;
  };
  const TimeReply reply = candidate().time(job(1, 5));
  EXPECT_THAT(reply.problem, HasSubstr("CUDA_ERROR_ECC_UNCORRECTABLE"));
  EXPECT_THAT(reply.faults, IsEmpty());
  EXPECT_TRUE(candidate_->lost());
}

TEST_F(TimedChains, ThatHangAreGivenUp) {
  fake_.on_launch = [&](const FakeLaunch& launch) { return launch.kernel == "megakernel" ? fake_.hang() : void(), CUDA_SUCCESS; };
  const TimeReply reply = candidate().time(job(1));
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].kind, "time_limit");
  EXPECT_TRUE(candidate_->lost());
}

TEST_F(TimedChains, TooLargeToBeResidentAreNeverLaunched) {
  TimeJob large = job(1);
  large.chains[0].launches[0].grid = 100;
  const TimeReply reply = candidate().time(large);
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].kind, "not_resident");
  EXPECT_THAT(fake_.launches, IsEmpty());
}

TEST_F(TimedChains, ThatWriteBesideABufferFault) {
  fake_.on_launch = [&](const FakeLaunch& launch) {
    if (launch.kernel == "megakernel") at(launch.words[0])[-1] = std::byte{1};
    return CUDA_SUCCESS;
  };
  const TimeReply reply = candidate().time(job(1));
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].message, "a timed chain wrote before or behind the buffer x");
}

TEST_F(TimedChains, RefuseOrdersThatMakeNoSense) {
  TimeJob wrong = job(1);
  wrong.order = {1};
  EXPECT_THAT(candidate().time(wrong).problem, HasSubstr("a chain that is not there"));
  EXPECT_THAT(candidate_->time(job(0)).problem, HasSubstr("without launches"));
}

class CountedChains : public TimedChains {
 protected:
  CountReply count(std::size_t launches) {
    CountJob job;
    job.chain = chain(launches);
    job.chain.writes = {{"x", 0, "a"}};
    return candidate().count(job);
  }
};

TEST_F(CountedChains, TellWhatRanAndForHowLong) {
  const CountReply reply = count(3);
  EXPECT_EQ(reply.problem, "");
  EXPECT_EQ(reply.kernels, 3u);
  EXPECT_THAT(reply.names, ElementsAre("megakernel"));
  EXPECT_THAT(reply.kernel_us, ElementsAre(0.5, 0.5, 0.5));
  EXPECT_EQ(reply.memcpys + reply.memsets + reply.graphs, 0u);
}

TEST_F(CountedChains, AreRecordedFromTheirFirstLaunchToTheirLast) {
  count(1);
  EXPECT_THAT(fake_.calls_among({"cuMemcpyHtoDAsync", "cuStreamSynchronize", "record", "launch megakernel", "cuCtxSynchronize", "record no more"}),
              ElementsAre("cuMemcpyHtoDAsync", "cuStreamSynchronize", "record", "record", "record", "record", "launch megakernel",
                          "cuCtxSynchronize", "record no more", "record no more", "record no more", "record no more"));
}

TEST_F(CountedChains, WithoutCuptiAreOurProblem) {
  with_cupti_ = false;
  const CountReply reply = count(1);
  EXPECT_EQ(reply.problem, "CUPTI is missing");
  EXPECT_EQ(reply.kernels, 0u);
}

TEST_F(CountedChains, WithoutRecordsAreOurProblem) {
  fake_.cupti_records = false;
  EXPECT_THAT(count(1).problem, HasSubstr("CUPTI recorded no kernel although some ran"));
}

TEST_F(CountedChains, ThatFaultSayHow) {
  fake_.on_launch = [&](const FakeLaunch&) { return fake_.fault(CUDA_ERROR_LAUNCH_FAILED), CUDA_SUCCESS; };
  const CountReply reply = count(2);
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].kind, "trap");
  EXPECT_TRUE(candidate_->lost());
}

TEST_F(CountedChains, ThatWriteFarBeforeABufferFault) {
  fake_.on_launch = [&](const FakeLaunch& launch) { return at(launch.words[1])[-8 - 10'000] = std::byte{1}, CUDA_SUCCESS; };
  const CountReply reply = count(1);
  ASSERT_EQ(reply.faults.size(), 1u);
  EXPECT_EQ(reply.faults[0].message, "a counted chain wrote before or behind the buffer y");
}

}  // namespace
}  // namespace onelaunch::worker
