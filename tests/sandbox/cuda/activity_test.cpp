#include "sandbox/cuda/activity.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_driver.h"

namespace onelaunch::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Recorders : public testing::Test {
 protected:
  void launch() {
    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    std::uint64_t words[2] = {};
    void* parameters[] = {&words[0], &words[1]};
    driver_.cuModuleLoadData(&module, "megakernel");
    driver_.cuModuleGetFunction(&kernel, module, "megakernel");
    driver_.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr);
  }

  fakes::FakeDriver fake_;
  Driver driver_ = fake_.driver();
};

TEST_F(Recorders, TellWhatRanBetweenStartAndStop) {
  const auto recorder = ActivityRecorder::create(fake_.cupti());
  ASSERT_TRUE(recorder) << recorder.error().message;
  launch();
  ASSERT_TRUE(recorder->start());
  launch();
  launch();
  const auto activity = recorder->stop();
  ASSERT_TRUE(activity) << activity.error().message;
  EXPECT_THAT(activity->kernels, ElementsAre("megakernel", "megakernel"));
  EXPECT_THAT(activity->kernel_us, ElementsAre(0.5, 0.5));
  EXPECT_EQ(activity->memcpys, 0u);
}

TEST_F(Recorders, ForgetWhatWasBefore) {
  const auto recorder = ActivityRecorder::create(fake_.cupti());
  ASSERT_TRUE(recorder->start());
  launch();
  ASSERT_TRUE(recorder->stop());
  ASSERT_TRUE(recorder->start());
  EXPECT_THAT(recorder->stop()->kernels, IsEmpty());
}

TEST_F(Recorders, FailWhenRecordsWereLost) {
  fake_.cupti_dropped = 2;
  const auto recorder = ActivityRecorder::create(fake_.cupti());
  ASSERT_TRUE(recorder->start());
  launch();
  const auto activity = recorder->stop();
  ASSERT_FALSE(activity);
  EXPECT_THAT(activity.error().message, HasSubstr("lost 2 records"));
}

TEST_F(Recorders, DoNotReadRecordsOfAnotherVersion) {
  fake_.cupti_version = CUPTI_API_VERSION + 10000;
  const auto recorder = ActivityRecorder::create(fake_.cupti());
  ASSERT_FALSE(recorder);
  EXPECT_THAT(recorder.error().message, HasSubstr("install cuda-cupti of the toolkit"));
}

TEST_F(Recorders, SayWhyNothingIsRecorded) {
  CuptiFunctions cupti = fake_.cupti();
  cupti.cuptiActivityEnable = [](CUpti_ActivityKind) { return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES; };
  const auto recorder = ActivityRecorder::create(cupti);
  ASSERT_TRUE(recorder);
  const auto started = recorder->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("cuptiActivityEnable: CUPTI's words"));
}

}  // namespace
}  // namespace onelaunch::cuda
