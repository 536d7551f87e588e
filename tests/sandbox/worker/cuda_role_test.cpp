#include "sandbox/worker/cuda_role.h"

#include <gmock/gmock.h>

#include "tests/sandbox/worker/cuda_bench.h"

namespace onelaunch::worker {
namespace {

using sandbox::Frame;
using testing::HasSubstr;

class CudaServers : public OnAFakeGpu {
 protected:
  CudaServer server(Result<cuda::Driver> driver, int ordinal = 0) {
    return CudaServer({std::move(driver), fake_.nvml(), fake_.cupti()}, ordinal, clock_, printed_, [this] {
      ++confined_;
      fake_.calls.emplace_back("confine");
    });
  }
  template <class Message>
  static Frame frame(const Message& message) {
    Frame frame;
    frame.body = encode(message);
    return frame;
  }
  static sandbox::RunJob launching() {
    sandbox::RunJob job;
    job.launches = {order()};
    return job;
  }

  int confined_ = 0;
};

TEST_F(CudaServers, WithoutADriverSaySoWhateverTheyAreAsked) {
  CudaServer serving = server(unavailable("there is no NVIDIA driver"));
  EXPECT_EQ(sandbox::decode_device_facts(serving.answer(frame(sandbox::DeviceFacts())))->problem, "there is no NVIDIA driver");
  EXPECT_EQ(sandbox::decode_setup_reply(serving.answer(frame(setup())))->problem, "there is no NVIDIA driver");
  EXPECT_EQ(sandbox::decode_run_reply(serving.answer(frame(launching())))->problem, "there is no NVIDIA driver");
  EXPECT_EQ(sandbox::decode_time_reply(serving.answer(frame(sandbox::TimeJob())))->problem, "there is no NVIDIA driver");
  EXPECT_EQ(sandbox::decode_count_reply(serving.answer(frame(sandbox::CountJob())))->problem, "there is no NVIDIA driver");
  EXPECT_EQ(confined_, 0);
}

TEST_F(CudaServers, DescribeTheirDevice) {
  CudaServer serving = server(fake_.driver());
  const auto facts = sandbox::decode_device_facts(serving.answer(frame(sandbox::DeviceFacts())));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->problem, "");
  EXPECT_EQ(facts->name, "Fake GPU");
  EXPECT_EQ(facts->target, "sm_90a");
  EXPECT_EQ(facts->uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
  EXPECT_EQ(facts->sms, 4);
  EXPECT_EQ(facts->l2_bytes, 1u << 20);
  EXPECT_EQ(facts->registers_per_thread, 255);
}

TEST_F(CudaServers, OfADeviceThatIsNotThereSayHowManyThereAre) {
  CudaServer serving = server(fake_.driver(), 3);
  EXPECT_THAT(sandbox::decode_device_facts(serving.answer(frame(sandbox::DeviceFacts())))->problem, HasSubstr("this machine has 1 GPU"));
}

TEST_F(CudaServers, AreConfinedOnceBetweenSetUpAndTheFirstLaunch) {
  CudaServer serving = server(fake_.driver());
  serving.answer(frame(setup()));
  EXPECT_EQ(confined_, 1);
  serving.answer(frame(launching()));
  serving.answer(frame(setup()));
  EXPECT_EQ(confined_, 1);
  EXPECT_THAT(fake_.calls_among({"confine", "launch megakernel"}), testing::ElementsAre("confine", "launch megakernel"));
}

TEST_F(CudaServers, UseCuptiOnceBeforeTheyAreConfined) {
  CudaServer serving = server(fake_.driver());
  serving.answer(frame(setup()));
  const auto calls = fake_.calls_among({"confine", "record"});
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(calls.front(), "record");
  EXPECT_EQ(calls.back(), "confine");
}

TEST_F(CudaServers, LaunchNothingAfterASetUpThatFailed) {
  CudaServer serving = server(fake_.driver());
  sandbox::SetupJob job = setup();
  job.buffers.push_back({"too much", 128 << 20, false, 0});
  EXPECT_NE(sandbox::decode_setup_reply(serving.answer(frame(job)))->problem, "");
  EXPECT_EQ(confined_, 0);
  EXPECT_NE(sandbox::decode_run_reply(serving.answer(frame(launching())))->problem, "");
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(CudaServers, AnswerAFaultAndAreLostThen) {
  CudaServer serving = server(fake_.driver());
  serving.answer(frame(setup()));
  EXPECT_FALSE(serving.lost());
  fake_.on_launch = [&](const fakes::FakeLaunch&) { return fake_.fault(CUDA_ERROR_MISALIGNED_ADDRESS), CUDA_SUCCESS; };
  const auto reply = sandbox::decode_run_reply(serving.answer(frame(launching())));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->launches.at(0).faults.at(0).kind, "misaligned");
  EXPECT_TRUE(serving.lost());
}

TEST_F(CudaServers, AnswerNothingToWhatIsNoMessage) {
  CudaServer serving = server(fake_.driver());
  Frame nonsense;
  nonsense.body = "nonsense";
  EXPECT_EQ(serving.answer(nonsense), "");
}

}  // namespace
}  // namespace onelaunch::worker
