#include "tasks/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/bfloat16.h"
#include "tasks/generator.h"
#include "tests/tasks/minimal_task.h"

namespace onelaunch::tasks {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kRows = 16, kFirstNew = 8, kEnd = 10;

// One tensor of a task, what is expected of it, and what a candidate wrote: right until a test spoils it.
struct Comparison {
  Task task;
  const Tensor* tensor;
  Bytes want, got, before;

  explicit Comparison(const std::string& name, Role role, std::vector<std::int64_t> shape, DType dtype = DType::bf16)
      : task(parsed(minimal_task())) {
    task.tensors.push_back({.name = name,
                            .role = role,
                            .dtype = dtype,
                            .shape = std::move(shape),
                            .nominal = {Distribution::Kind::normal, 1},
                            .strict = {},
                            .id = 99});
    tensor = &task.tensors.back();
    want.resize(tensor->bytes(kRows));
    fill_tensor(task, *tensor, 1, InputSet::nominal, kRows, want);
    got = want;
    before = want;
  }

  float value(std::size_t i) const {
    std::uint16_t bits;
    std::memcpy(&bits, &got[2 * i], 2);
    return bf16_to_float(bits);
  }
  void set(std::size_t i, float value) {
    const std::uint16_t bits = float_to_bf16(value);
    std::memcpy(&got[2 * i], &bits, 2);
  }
  Finding judge() const {
    const std::vector<Finding> findings = compare(task, {{tensor, got, want, before}}, kFirstNew, kEnd);
    EXPECT_EQ(findings.size(), 1u);
    return findings.front();
  }
};

Comparison output() {
  Comparison comparison("out", Role::output, {512});
  comparison.before.clear();
  return comparison;
}

TEST(Compare, AcceptsTheReferenceItself) {
  EXPECT_TRUE(output().judge().ok);
  EXPECT_TRUE(Comparison("state", Role::state, {4, 16, 16}).judge().ok);
  EXPECT_TRUE(Comparison("rows", Role::state, {kCapacity, 32}).judge().ok);
}

TEST(Compare, AcceptsHonestRounding) {
  Comparison comparison = output();
  for (std::size_t i = 0; i < 512; ++i) comparison.set(i, comparison.value(i) * (i % 2 == 0 ? 1.004f : 0.996f));
  const Finding finding = comparison.judge();
  EXPECT_TRUE(finding.ok) << finding.detail;
  EXPECT_FALSE(finding.detail.empty());
}

TEST(Compare, RefusesNotANumberAndInfinityAnywhere) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Comparison comparison = output();
    comparison.set(511, bad);
    const Finding finding = comparison.judge();
    EXPECT_FALSE(finding.ok);
    EXPECT_EQ(finding.test, "finite");
    EXPECT_EQ(finding.index, 511u);
  }
}

TEST(Compare, FindsOneWrongElement) {
  Comparison comparison = output();
  comparison.set(77, comparison.value(77) + 0.2f);
  const Finding finding = comparison.judge();
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.test, "element");
  EXPECT_EQ(finding.index, 77u);
  EXPECT_THAT(finding.detail, HasSubstr("out[77]"));
}

TEST(Compare, FindsASmallErrorEverywhere) {
  Comparison comparison = output();
  for (std::size_t i = 0; i < 512; ++i) comparison.set(i, comparison.value(i) + (i % 2 == 0 ? 0.04f : -0.04f));
  const Finding finding = comparison.judge();
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.test, "rel_l2");
  EXPECT_NEAR(finding.got, 0.04, 0.004);
  EXPECT_EQ(finding.tolerance, 0.02);
}

TEST(Compare, FindsAWrongScaleThatTheErrorAllows) {
  Comparison comparison("out", Role::output, {16384});
  comparison.before.clear();
  for (std::size_t i = 0; i < 16384; ++i) comparison.set(i, comparison.value(i) * 1.012f);
  const Finding finding = comparison.judge();
  EXPECT_FALSE(finding.ok) << finding.test;
  EXPECT_EQ(finding.test, "update_scale");
  EXPECT_NEAR(finding.got, 1.012, 0.002);
}

// out = input + update with a small update: an output that lost the update is close to the whole, not to the update.
TEST(Compare, JudgesTheUpdateApartFromTheInput) {
  Comparison comparison = output();
  comparison.before = comparison.want;
  comparison.got = comparison.want;
  for (std::size_t i = 0; i < 512; ++i) comparison.set(i, comparison.value(i) + (i % 2 == 0 ? 0.015f : -0.015f));
  comparison.want = comparison.got;
  EXPECT_TRUE(comparison.judge().ok);
  comparison.got = comparison.before;
  const Finding finding = comparison.judge();
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.test, "update");
  EXPECT_THAT(finding.detail, HasSubstr("minus the input"));
}

TEST(Compare, JudgesEveryHeadOfAStateForItself) {
  Comparison comparison("state", Role::state, {64, 8, 16});
  for (std::size_t i = 0; i < 128; ++i) comparison.set(5 * 128 + i, comparison.value(5 * 128 + i) * 1.02f);
  const Finding finding = comparison.judge();
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.test, "rel_l2");
  EXPECT_THAT(finding.detail, HasSubstr("head 5 of state"));
}

TEST(Compare, JudgesEveryRowOfAWindowForItself) {
  Comparison comparison("window", Role::state, {3, 512});
  for (std::size_t i = 0; i < 512; ++i) comparison.set(512 + i, comparison.value(512 + i) * 1.02f);
  EXPECT_THAT(comparison.judge().detail, HasSubstr("row 1 of window"));
}

TEST(Compare, RefusesAChangedOldRowAndARowBeyondTheEnd) {
  for (const std::size_t row : {std::size_t{3}, std::size_t{12}}) {
    Comparison comparison("rows", Role::state, {kCapacity, 32});
    comparison.got[row * 64 + 9] ^= std::byte{1};
    const Finding finding = comparison.judge();
    EXPECT_FALSE(finding.ok);
    EXPECT_EQ(finding.test, "old_row");
    EXPECT_EQ(finding.index, row * 32 + 4);
  }
}

TEST(Compare, IgnoresWhatTheReferenceHoldsOutsideTheNewRows) {
  Comparison comparison("rows", Role::state, {kCapacity, 32});
  comparison.want[15 * 64] ^= std::byte{1};
  EXPECT_TRUE(comparison.judge().ok);
}

TEST(Compare, JudgesEveryNewRowForItself) {
  Comparison comparison("rows", Role::state, {kCapacity, 32});
  const std::size_t at = 9 * 32 + 7;
  comparison.set(at, comparison.value(at) + 0.5f);
  const Finding finding = comparison.judge();
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.index, at);
  EXPECT_THAT(finding.detail, HasSubstr("rows[row 9, column 7]"));
}

TEST(Compare, UsesTheToleranceOfTheTensor) {
  Comparison comparison = output();
  comparison.task.tensor_tolerance["out"] = {.rel_l2 = 0.5, .max_rms = 1, .max_rel = 1};
  comparison.set(77, comparison.value(77) + 0.2f);
  EXPECT_TRUE(comparison.judge().ok) << comparison.judge().detail;
}

TEST(Compare, TakesAReferenceOfZeros) {
  Comparison comparison = output();
  comparison.want.assign(comparison.want.size(), std::byte{0});
  comparison.got = comparison.want;
  EXPECT_TRUE(comparison.judge().ok);
  comparison.set(0, 1e-3f);
  EXPECT_FALSE(comparison.judge().ok);
}

}  // namespace
}  // namespace onelaunch::tasks
