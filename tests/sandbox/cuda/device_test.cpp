#include "sandbox/cuda/device.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/fakes/fake_driver.h"

namespace onelaunch::cuda {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class Devices : public testing::Test {
 protected:
  Result<std::unique_ptr<Device>> open(int ordinal = 0) {
    driver_ = fake_.driver();
    return Device::open(driver_, fake_.nvml(), ordinal);
  }
  std::string problem(int ordinal = 0) {
    const auto device = open(ordinal);
    return device ? "it opened" : device.error().message;
  }
  std::vector<std::string> warnings() {
    const auto device = open();
    return device ? (*device)->properties().warnings : std::vector{device.error().message};
  }

  fakes::FakeDriver fake_;
  Driver driver_;
};

TEST_F(Devices, TellWhatTheyAre) {
  const auto device = open();
  ASSERT_TRUE(device) << device.error().message;
  const DeviceProperties& is = (*device)->properties();
  EXPECT_EQ(is.name, "Fake GPU");
  EXPECT_EQ(is.target, "sm_90a");
  EXPECT_EQ(is.uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
  EXPECT_EQ(is.driver_version, "580.159.04");
  EXPECT_EQ(is.sms, 4);
  EXPECT_EQ(is.l2_bytes, 1u << 20);
  EXPECT_EQ(is.memory_bytes, 64u << 20);
  EXPECT_THAT(is.warnings, IsEmpty());
}

TEST_F(Devices, NameTheTargetWithTheNewestInstructions) {
  const std::map<std::pair<int, int>, std::string> targets = {
      {{8, 0}, "sm_80"}, {{8, 9}, "sm_89"}, {{9, 0}, "sm_90a"}, {{10, 0}, "sm_100a"}, {{12, 0}, "sm_120a"}};
  for (const auto& [capability, target] : targets) {
    fake_.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = capability.first;
    fake_.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = capability.second;
    const auto device = open();
    ASSERT_TRUE(device);
    EXPECT_EQ((*device)->properties().target, target);
  }
}

TEST_F(Devices, OutOfRangeSayHowManyThereAre) {
  EXPECT_THAT(problem(1), HasSubstr("there is no device cuda:1; this machine has 1 GPU, cuda:0"));
  fake_.devices = 4;
  EXPECT_THAT(problem(4), HasSubstr("there is no device cuda:4; this machine has 4 GPUs, cuda:0 to cuda:3"));
  fake_.devices = 0;
  EXPECT_THAT(problem(), HasSubstr("the driver sees no GPU"));
}

TEST_F(Devices, NeedADriverAsNewAsTheToolkit) {
  fake_.version = 12040;
  EXPECT_THAT(problem(), AllOf(HasSubstr("the driver is for CUDA 12.4"), HasSubstr("toolkit " + std::to_string(CUDA_VERSION / 1000) + "."),
                               HasSubstr("install a newer driver")));
}

TEST_F(Devices, CutIntoInstancesAreRefused) {
  fake_.mig = 1;
  EXPECT_THAT(problem(), AllOf(HasSubstr("is cut into MIG instances"), HasSubstr("nvidia-smi -mig 0")));
}

TEST_F(Devices, ThatAreInstancesAreRefused) {
  fake_.nvml_knows_only_instances = true;
  EXPECT_THAT(problem(), HasSubstr("is cut into MIG instances"));
}

TEST_F(Devices, ThatAreInstancesAreKnownByNameWithoutNvml) {
  fake_.name = "NVIDIA H200 MIG 1g.18gb";
  driver_ = fake_.driver();
  const auto device = Device::open(driver_, NvmlFunctions(), 0);
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("is cut into MIG instances"));
}

TEST_F(Devices, KeptToOneProcessAreRefused) {
  fake_.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE] = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  EXPECT_THAT(problem(), HasSubstr("serves one process at a time"));
  fake_.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE] = CU_COMPUTEMODE_PROHIBITED;
  EXPECT_THAT(problem(), HasSubstr("lets no program compute on it"));
}

TEST_F(Devices, ThatAreTooOldSaySo) {
  fake_.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 7;
  fake_.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = 5;
  EXPECT_THAT(problem(), HasSubstr("is of compute capability 7.5; kernels here need 8.0 or newer"));
}

TEST_F(Devices, WithoutMemoryForAContextSaySo) {
  fake_.failing["cuDevicePrimaryCtxRetain"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_THAT(problem(), AllOf(HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"), HasSubstr("end other processes")));
  EXPECT_THAT(fake_.alive, IsEmpty());
}

TEST_F(Devices, WarnOfNeighboursAndSlowClocksAndFailingMemory) {
  fake_.processes = {1, static_cast<unsigned>(::getpid())};
  fake_.throttle_reasons = 0x1 | 0x4 | 0x40;  // idle and power capping come and go
  fake_.persistence = 0;
  fake_.uncorrected_errors = 3;
  const auto all = warnings();
  EXPECT_EQ(all.size(), 4u);
  EXPECT_THAT(all, Contains(HasSubstr("1 other process has a context on this GPU")));
  EXPECT_THAT(all, Contains(HasSubstr("the card is too hot")));
  EXPECT_THAT(all, Contains(HasSubstr("persistence mode is off")));
  EXPECT_THAT(all, Contains(HasSubstr("3 errors")));
}

TEST_F(Devices, DoNotWarnOfWorkersOfTheSameProgram) {
  // This process and the one that stands for another worker have the same parent.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read(ends[0]);
  UniqueFd write(ends[1]);
  const pid_t sibling = ::fork();
  if (sibling == 0) {
    char byte;
    write.reset();
    ::_exit(static_cast<int>(::read(read.get(), &byte, 1)));
  }
  const pid_t asking = ::fork();
  if (asking == 0) {
    fake_.processes = {static_cast<unsigned>(sibling)};
    ::_exit(static_cast<int>(warnings().size()));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(asking, &status, 0), asking);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  write.reset();
  ASSERT_EQ(::waitpid(sibling, &status, 0), sibling);
}

TEST_F(Devices, WithoutNvmlWarnOnce) {
  driver_ = fake_.driver();
  const auto device = Device::open(driver_, NvmlFunctions(), 0);
  ASSERT_TRUE(device);
  EXPECT_THAT((*device)->properties().warnings, testing::ElementsAre(HasSubstr("NVML is missing")));
  EXPECT_EQ((*device)->health().sm_mhz, 0u);
}

TEST_F(Devices, GiveKernelsNoHeapAndLittleElse) {
  const auto device = open();
  ASSERT_TRUE(device);
  EXPECT_EQ(fake_.limits.at(CU_LIMIT_MALLOC_HEAP_SIZE), 0u);
  EXPECT_EQ(fake_.limits.at(CU_LIMIT_PERSISTING_L2_CACHE_SIZE), 0u);
  EXPECT_LE(fake_.limits.at(CU_LIMIT_PRINTF_FIFO_SIZE), 1u << 20);
  EXPECT_EQ(fake_.limits.at(CU_LIMIT_STACK_SIZE), 1024u);
}

TEST_F(Devices, TellTheirHealth) {
  fake_.throttle_reasons = 0x5;
  const auto device = open();
  ASSERT_TRUE(device);
  const Health health = (*device)->health();
  EXPECT_EQ(health.sm_mhz, 1980u);
  EXPECT_EQ(health.memory_mhz, 3201u);
  EXPECT_EQ(health.power_mw, 350'000u);
  EXPECT_EQ(health.temperature_c, 41u);
  EXPECT_EQ(health.throttle_reasons, 0x4u) << "being idle is no throttling";
}

TEST_F(Devices, LetGoOfTheirContext) {
  { const auto device = open(); EXPECT_EQ(fake_.alive.count("context"), 1u); }
  EXPECT_THAT(fake_.alive, IsEmpty());
}

}  // namespace
}  // namespace onelaunch::cuda
