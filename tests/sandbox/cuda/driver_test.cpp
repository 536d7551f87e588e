#include "sandbox/cuda/driver.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_driver.h"

namespace onelaunch::cuda {
namespace {

using testing::HasSubstr;

TEST(CudaDriver, ThatIsMissingIsSaidSo) {
  const auto driver = load_driver();
  if (driver) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(driver.error().kind, Error::Kind::unavailable);
  EXPECT_THAT(driver.error().message, HasSubstr("there is no NVIDIA driver on this machine (libcuda.so.1 cannot be loaded)"));
  EXPECT_THAT(driver.error().message, HasSubstr("--device emu"));
}

TEST(CudaDriver, NamesItsErrorsAndWhatToDo) {
  const fakes::FakeDriver fake;
  const auto failed = check(fake.driver(), CUDA_ERROR_OUT_OF_MEMORY, "cuMemCreate");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Error::Kind::unavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (meaning); free memory on the GPU"));
}

TEST(CudaDriver, GivesTheNumberOfAnErrorThatItCannotName) {
  const fakes::FakeDriver fake;
  EXPECT_THAT(describe(fake.driver(), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "cuInit"), HasSubstr("cuInit: error 704"));
}

}  // namespace
}  // namespace onelaunch::cuda
