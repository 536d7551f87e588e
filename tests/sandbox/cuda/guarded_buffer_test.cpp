#include "sandbox/cuda/guarded_buffer.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/fakes/fake_driver.h"

namespace onelaunch::cuda {
namespace {

using Slack = GuardedBuffer::Slack;
using testing::HasSubstr;

constexpr std::uint64_t kPage = fakes::FakeDriver::kGranularity;

class GuardedBuffers : public testing::Test {
 protected:
  GuardedBuffer make(std::uint64_t bytes) { return std::move(*GuardedBuffer::create(driver_, 0, bytes)); }
  static void overwrite(CUdeviceptr at) { *reinterpret_cast<unsigned char*>(at) ^= 1; }
  static bool intact(const GuardedBuffer& buffer, Slack slack) {
    const auto holds = buffer.intact(slack);
    return holds && *holds;
  }

  fakes::FakeDriver fake_;
  Driver driver_ = fake_.driver();
};

TEST_F(GuardedBuffers, EndWhereTheMappingEnds) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{1000}, kPage - 1, kPage, kPage + 1}) {
    const GuardedBuffer buffer = make(bytes);
    EXPECT_EQ(buffer.address() % GuardedBuffer::kAlignment, 0u) << bytes;
    const std::uint64_t end = buffer.address() + bytes, behind = (kPage - end % kPage) % kPage;
    EXPECT_LT(behind, GuardedBuffer::kAlignment) << bytes << " bytes lie too far before the guard";
  }
}

TEST_F(GuardedBuffers, AreWrittenAndReadByTheDeviceUntilSealed) {
  GuardedBuffer buffer = make(1000);
  ASSERT_EQ(fake_.accesses.size(), 1u);
  EXPECT_EQ(fake_.accesses[0].second, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  ASSERT_TRUE(buffer.seal());
  EXPECT_TRUE(buffer.sealed());
  ASSERT_EQ(fake_.accesses.size(), 2u);
  EXPECT_EQ(fake_.accesses[1].first, fake_.accesses[0].first) << "the whole mapping";
  EXPECT_EQ(fake_.accesses[1].second, CU_MEM_ACCESS_FLAGS_PROT_READ);
}

TEST_F(GuardedBuffers, AreIntactWhateverIsInThem) {
  const GuardedBuffer buffer = make(1000);
  std::memset(reinterpret_cast<void*>(buffer.address()), 0xff, 1000);
  EXPECT_TRUE(intact(buffer, Slack::near));
  EXPECT_TRUE(intact(buffer, Slack::whole));
}

TEST_F(GuardedBuffers, SeeAWriteJustBeforeThem) {
  const GuardedBuffer buffer = make(1000);
  overwrite(buffer.address() - 1);
  EXPECT_FALSE(intact(buffer, Slack::near));
}

TEST_F(GuardedBuffers, SeeAWriteJustBehindThem) {
  const GuardedBuffer buffer = make(1000);  // 24 bytes are left before the guard
  overwrite(buffer.address() + 1000);
  EXPECT_FALSE(intact(buffer, Slack::near));
}

TEST_F(GuardedBuffers, SeeAWriteFarBeforeThemWhenTheyLookFar) {
  const GuardedBuffer buffer = make(1000);
  overwrite(buffer.address() - 2 * GuardedBuffer::kCanaryBytes);
  EXPECT_TRUE(intact(buffer, Slack::near));
  EXPECT_FALSE(intact(buffer, Slack::whole));
}

TEST_F(GuardedBuffers, SayHowMuchMemoryIsMissing) {
  fake_.memory_bytes = 4 << 20;
  const auto buffer = GuardedBuffer::create(driver_, 0, 8 << 20);
  ASSERT_FALSE(buffer);
  EXPECT_THAT(buffer.error().message, HasSubstr("cuMemCreate of 8 MiB: CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(fake_.alive, testing::IsEmpty()) << "what was reserved is let go";
}

TEST_F(GuardedBuffers, AreTakenApartInOrderAndOnce) {
  {
    GuardedBuffer first = make(1000);
    const GuardedBuffer second = std::move(first);
    fake_.calls.clear();
  }
  EXPECT_THAT(fake_.calls, testing::ElementsAre("cuMemUnmap", "cuMemRelease", "cuMemAddressFree"));
  EXPECT_THAT(fake_.alive, testing::IsEmpty());
}

}  // namespace
}  // namespace onelaunch::cuda
