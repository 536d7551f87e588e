#include "tasks/quantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/bfloat16.h"

namespace onelaunch::tasks {
namespace {

struct Group {
  std::vector<std::uint8_t> packed;
  std::vector<std::uint16_t> scale, zero;
  int at(std::size_t k, std::size_t column) const { return packed[k / 2 * scale.size() + column] >> (k % 2 * 4) & 15; }
};

Group quantised(const std::vector<float>& values) {
  const std::size_t columns = values.size() / 128;
  Group group{std::vector<std::uint8_t>(64 * columns), std::vector<std::uint16_t>(columns),
              std::vector<std::uint16_t>(columns)};
  quantise_group(values.data(), static_cast<std::int64_t>(columns),
                 {group.packed.data(), group.scale.data(), group.zero.data(), static_cast<std::int64_t>(columns)});
  return group;
}

// The formulas of the format, one value at a time.
void expect_formula(const std::vector<float>& values, std::size_t columns) {
  const Group group = quantised(values);
  for (std::size_t c = 0; c < columns; ++c) {
    float low = values[c], high = values[c];
    for (std::size_t k = 0; k < 128; ++k)
      low = std::min(low, values[k * columns + c]), high = std::max(high, values[k * columns + c]);
    const float scale = std::max(high - low, 1e-8f) / 15.0f;
    const float zero = std::clamp(std::rint(-low / scale), 0.0f, 15.0f);
    EXPECT_EQ(group.scale[c], float_to_bf16(scale));
    EXPECT_EQ(bf16_to_float(group.zero[c]), zero);
    for (std::size_t k = 0; k < 128; ++k)
      ASSERT_EQ(group.at(k, c), int(std::clamp(std::rint(values[k * columns + c] / scale + zero), 0.0f, 15.0f)))
          << k << " " << c;
  }
}

std::vector<float> drawn(std::size_t columns, float scale, float mean) {
  std::mt19937 engine(9);
  std::normal_distribution<float> normal(mean, scale);
  std::vector<float> values(128 * columns);
  for (float& v : values) v = normal(engine);
  return values;
}

TEST(QuantiseGroup, FollowsTheFormulaForEveryWidth) {
  for (const std::size_t columns : {1u, 3u, 8u, 37u, 64u}) expect_formula(drawn(columns, 0.02f, 0), columns);
}

TEST(QuantiseGroup, ClampsWhenAllValuesAreOnOneSide) {
  expect_formula(drawn(5, 0.01f, 1), 5);
  expect_formula(drawn(5, 0.01f, -1), 5);
}

TEST(QuantiseGroup, TakesConstantColumns) {
  expect_formula(std::vector<float>(128 * 4, 0.0f), 4);
  expect_formula(std::vector<float>(128 * 4, 1.0f), 4);
  expect_formula(std::vector<float>(128 * 4, -1e20f), 4);
}

TEST(QuantiseGroup, RoundsHalvesToEven) {
  std::vector<float> values(128, 0.0f);
  values[0] = 15.0f;  // scale 1, zero 0
  values[1] = 2.5f, values[2] = 3.5f, values[3] = 0.5f;
  const Group group = quantised(values);
  EXPECT_EQ(group.at(1, 0), 2);
  EXPECT_EQ(group.at(2, 0), 4);
  EXPECT_EQ(group.at(3, 0), 0);
}

}  // namespace
}  // namespace onelaunch::tasks
