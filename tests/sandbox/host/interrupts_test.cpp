#include "sandbox/host/interrupts.h"

#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

TEST(Interrupts, ReachAllWorkInProgressAndNoLaterWork) {
  Interrupts interrupts;
  {
    const Interrupts::Scope one(interrupts), two(interrupts);
    EXPECT_FALSE(one.raised());
    interrupts.raise();
    EXPECT_TRUE(one.raised());
    EXPECT_TRUE(two.raised());
    EXPECT_TRUE(two.raised());  // and stays so
  }
  const Interrupts::Scope later(interrupts);
  EXPECT_FALSE(later.raised());
}

}  // namespace
}  // namespace onelaunch::sandbox
