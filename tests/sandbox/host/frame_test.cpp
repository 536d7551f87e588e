#include "sandbox/protocol/frame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <thread>

namespace onelaunch::sandbox {
namespace {

class Frames : public testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ours_.emplace(UniqueFd(pair[0]), 1 << 24);
    theirs_ = UniqueFd(pair[1]);
  }
  SystemClock clock_;
  std::optional<FrameChannel> ours_;
  UniqueFd theirs_;
};

TEST_F(Frames, CarryBodyAndNonceOfAnySizeBothWays) {
  FrameChannel peer(std::move(theirs_), 1 << 24);
  const std::string body(3 << 20, 'x');  // more than a socket holds at once
  std::thread echo([&] {
    auto received = peer.receive({});
    ASSERT_TRUE(std::holds_alternative<Frame>(received));
    EXPECT_FALSE(peer.send(std::get<Frame>(received).nonce, std::get<Frame>(received).body, -1, {}));
  });
  EXPECT_FALSE(ours_->send(42, body, -1, {}));
  auto reply = ours_->receive({});
  echo.join();
  ASSERT_TRUE(std::holds_alternative<Frame>(reply));
  EXPECT_EQ(std::get<Frame>(reply).nonce, 42u);
  EXPECT_EQ(std::get<Frame>(reply).body, body);
}

TEST_F(Frames, CarryADescriptor) {
  FrameChannel peer(std::move(theirs_));
  UniqueFd memory(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::pwrite(memory.get(), "weights", 7, 0), 7);
  ASSERT_FALSE(peer.send(1, "here", memory.get(), {}));
  auto received = ours_->receive({});
  ASSERT_TRUE(std::holds_alternative<Frame>(received));
  char content[8] = {};
  ASSERT_EQ(::pread(std::get<Frame>(received).fd.get(), content, 7, 0), 7);
  EXPECT_STREQ(content, "weights");
}

TEST_F(Frames, EndAtTheDeadlineWhenNothingComes) {
  const auto received = ours_->receive({&clock_, Deadline{clock_.now() - Seconds(1)}, -1});
  ASSERT_TRUE(std::holds_alternative<ChannelEnd>(received));
  EXPECT_EQ(std::get<ChannelEnd>(received).kind, ChannelEnd::Kind::timed_out);
}

TEST_F(Frames, SayThatThePeerIsGone) {
  theirs_.reset();
  const auto received = ours_->receive({});
  ASSERT_TRUE(std::holds_alternative<ChannelEnd>(received));
  EXPECT_EQ(std::get<ChannelEnd>(received).kind, ChannelEnd::Kind::closed);
}

TEST_F(Frames, RefuseGarbageAndLengthsOverTheLimitBeforeAllocating) {
  const std::uint64_t head[3] = {0x31304d4152464c4f, std::uint64_t{1} << 60, 0};
  ASSERT_EQ(::write(theirs_.get(), head, sizeof head), static_cast<ssize_t>(sizeof head));
  auto received = ours_->receive({});
  ASSERT_TRUE(std::holds_alternative<ChannelEnd>(received));
  EXPECT_EQ(std::get<ChannelEnd>(received).kind, ChannelEnd::Kind::malformed);

  ASSERT_EQ(::write(theirs_.get(), "GET / HTTP/1.1\r\nHost: x\r\n", 24), 24);
  received = ours_->receive({});
  ASSERT_TRUE(std::holds_alternative<ChannelEnd>(received));
  EXPECT_EQ(std::get<ChannelEnd>(received).kind, ChannelEnd::Kind::malformed);
}

TEST_F(Frames, AreNotSentWhenTheyAreOverTheLimit) {
  const auto end = ours_->send(1, std::string((1 << 24) + 1, 'x'), -1, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->kind, ChannelEnd::Kind::malformed);
}

}  // namespace
}  // namespace onelaunch::sandbox
