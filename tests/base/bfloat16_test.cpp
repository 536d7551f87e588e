#include "base/bfloat16.h"

#include <gtest/gtest.h>

#include <limits>

namespace onelaunch {
namespace {

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(float_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f), 0x3f80);            // a tie goes to the even neighbour
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-7f + 0x1p-8f), 0x3f82);  // and here upwards
  EXPECT_EQ(float_to_bf16(-1.0f - 0x1.02p-8f), 0xbf81);
}

TEST(Bfloat16, KeepsInfinityAndMakesOneNan) {
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_EQ(float_to_bf16(-std::numeric_limits<float>::quiet_NaN()), 0x7fff);
}

TEST(Bfloat16, RoundsADoubleOnce) {
  // Just above a tie of bfloat16, but a tie's binary32 neighbour: two roundings would go down.
  const double above_tie = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(float_to_bf16(static_cast<float>(above_tie)), 0x3f80);
  EXPECT_EQ(double_to_bf16(above_tie), 0x3f81);
  EXPECT_EQ(double_to_bf16(-above_tie), 0xbf81);
  EXPECT_EQ(double_to_bf16(1.0 + 0x1p-8), 0x3f80);
  EXPECT_EQ(double_to_bf16(1.0 + 0x1p-8 - 0x1p-40), 0x3f80);
  EXPECT_EQ(double_to_bf16(1.0 + 3 * 0x1p-8 - 0x1p-40), 0x3f81);
}

}  // namespace
}  // namespace onelaunch
