// A recurrent state in f32: its precision, and how much of its old and its new content there is.
#include "tasks/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat16.h"

namespace onelaunch::tasks {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kHeads = 2, kRows = 16, kColumns = 64;
constexpr std::size_t kElements = kHeads * kRows * kColumns;

// Half of the old content is kept, and about as much is added.
struct State {
  Task task;
  std::vector<float> before, want, got;

  State() {
    task.tensors.push_back({.name = "S",
                            .role = Role::state,
                            .dtype = DType::f32,
                            .shape = {kHeads, kRows, kColumns},
                            .nominal = {},
                            .strict = {}});
    task.state_tolerance = {.rel_l2 = 0.5, .max_rms = 10, .max_rel = 10};
    for (std::size_t i = 0; i < kElements; ++i) {
      before.push_back(static_cast<float>(std::sin(1.7 * static_cast<double>(i) + 0.3)));
      want.push_back(0.5f * before[i] + added(i));
    }
    got = want;
  }
  static float added(std::size_t i) { return static_cast<float>(0.5 * std::cos(0.9 * static_cast<double>(i))); }

  std::vector<Finding> measured() const {
    const auto bytes = [](const std::vector<float>& values) { return std::as_bytes(std::span(values)); };
    return measure(task, {{&task.tensors[0], bytes(got), bytes(want), bytes(before)}}, 0, 0);
  }
  Finding of(const std::string& test) const {
    for (const Finding& finding : measured())
      if (finding.test == test) return finding;
    return {};
  }
};

TEST(RecurrentState, PassesEveryTestWhenItIsTheReference) {
  const State state;
  std::vector<std::string> tests;
  for (const Finding& finding : state.measured()) {
    EXPECT_TRUE(finding.ok) << finding.detail;
    tests.push_back(finding.test);
  }
  EXPECT_THAT(tests, testing::ElementsAre("element", "rel_l2", "kept", "added", "low_bits"));
}

TEST(RecurrentState, IsFoundOutWhenItIsStoredWithFewerBits) {
  State state;
  for (float& value : state.got) value = bf16_to_float(float_to_bf16(value));
  const Finding finding = state.of("low_bits");
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.got, 1);
  EXPECT_THAT(finding.detail, HasSubstr("lower precision"));
  EXPECT_TRUE(state.of("rel_l2").ok);
}

TEST(RecurrentState, IsFoundOutWhenOnlyATwentiethIsStoredWithFewerBits) {
  State state;
  for (std::size_t i = 0; i < kElements; i += 20)
    state.got[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(state.got[i]) & ~0x1fffu);
  EXPECT_FALSE(state.of("low_bits").ok);
}

TEST(RecurrentState, MayHaveFewBitsWhereTheReferenceDoes) {
  State state;
  for (float& value : state.want) value = bf16_to_float(float_to_bf16(value));
  state.got = state.want;
  EXPECT_TRUE(state.of("low_bits").ok);
}

TEST(RecurrentState, HasLostSomethingWhenItKeepsTooLittleOfTheOld) {
  State state;
  for (std::size_t i = 0; i < kElements / 2; ++i) state.got[i] = state.want[i] - 0.3f * state.before[i];
  const Finding finding = state.of("kept");
  EXPECT_FALSE(finding.ok);
  EXPECT_LT(finding.got, 0.5);
  EXPECT_THAT(finding.detail, HasSubstr("head 0 of S keeps"));
}

TEST(RecurrentState, HasLostSomethingWhenItGainsTooLittleOfTheNew) {
  State state;
  for (std::size_t i = kElements / 2; i < kElements; ++i)
    state.got[i] = 0.5f * state.before[i] + 0.7f * State::added(i);
  const Finding finding = state.of("added");
  EXPECT_FALSE(finding.ok);
  EXPECT_NEAR(finding.got, 0.7, 0.05);
  EXPECT_THAT(finding.detail, HasSubstr("head 1 of S gains"));
  EXPECT_TRUE(state.of("kept").ok) << state.of("kept").detail;
}

TEST(RecurrentState, IsNotJudgedByPartsThatAreHardlyThere) {
  State state;
  for (std::size_t i = 0; i < kElements; ++i) state.want[i] = state.got[i] = 0.5f * state.before[i];
  EXPECT_EQ(state.of("added").test, "");
  EXPECT_EQ(state.of("kept").test, "kept");
}

TEST(Decisive, IsTheFirstFailureOrTheClosestPass) {
  Finding far, close, failed;
  far.over = 0.1, close.over = 0.9, failed.over = 1.1;
  far.test = "far", close.test = "close", failed.test = "failed";
  failed.ok = false;
  EXPECT_EQ(decisive({far, close}).test, "close");
  EXPECT_EQ(decisive({far, failed, close}).test, "failed");
}

}  // namespace
}  // namespace onelaunch::tasks
