#include "sandbox/host/phase_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

using Kind = Stamp::Kind;
using testing::ElementsAre;

Stamp mark(const std::string& name, double us) { return {Kind::phase, static_cast<std::uint64_t>(us * 1e3), 0, name}; }
Stamp at(Kind kind, double us) { return {kind, static_cast<std::uint64_t>(us * 1e3), 0, ""}; }

const ProfiledPhase& phase(const PhaseSummary& summary, const std::string& name) {
  for (const ProfiledPhase& one : summary.phases)
    if (one.name == name) return one;
  ADD_FAILURE() << "no phase " << name;
  return summary.phases.front();
}

TEST(PhaseSummary, APhaseLastsUntilTheNextMarkAndTheLastOneUntilItsCodeEnds) {
  const PhaseSummary summary = summarise({{{mark("a", 10), mark("b", 13), at(Kind::leave, 18)}}});
  ASSERT_EQ(summary.phases.size(), 2u);
  EXPECT_EQ(summary.phases[0].name, "a");
  EXPECT_DOUBLE_EQ(summary.phases[0].us.median, 3);
  EXPECT_DOUBLE_EQ(summary.phases[1].us.median, 5);
  EXPECT_DOUBLE_EQ(summary.phases[1].share, 5.0 / 8);
  EXPECT_DOUBLE_EQ(summary.token_us, 8);
  EXPECT_TRUE(summary.notes.empty());
}

TEST(PhaseSummary, TheEndOfAnInnerBlockOfCodeDoesNotEndAPhaseThatGoesOn) {
  const PhaseSummary summary = summarise({{{mark("a", 0), at(Kind::leave, 1), mark("b", 6), at(Kind::leave, 8)}}});
  EXPECT_DOUBLE_EQ(phase(summary, "a").us.median, 6);
  EXPECT_DOUBLE_EQ(phase(summary, "b").us.median, 2);
}

TEST(PhaseSummary, SaysThatTheEndOfALastPhaseIsNotKnown) {
  const PhaseSummary summary = summarise({{{mark("a", 0), mark("b", 6)}}});
  EXPECT_EQ(phase(summary, "b").us.median, 0);
  EXPECT_EQ(summary.notes.size(), 1u);
}

TEST(PhaseSummary, BracesRoundAMarkAloneDoNotEndItsPhase) {
  EXPECT_EQ(summarise({{{mark("a", 0), mark("b", 6), at(Kind::leave, 6.05)}}}).notes.size(), 1u);
  EXPECT_EQ(summarise({{{mark("a", 0), mark("b", 6), at(Kind::leave, 9)}}}).notes.size(), 0u);
}

TEST(PhaseSummary, AMarkInALoopCountsItsPassesTogether) {
  const PhaseSummary summary =
      summarise({{{mark("a", 0), mark("b", 1), mark("a", 3), mark("b", 4), mark("a", 9), at(Kind::leave, 10)}}});
  EXPECT_EQ(phase(summary, "a").passes, 3);
  EXPECT_DOUBLE_EQ(phase(summary, "a").us.median, 3);
  EXPECT_EQ(phase(summary, "b").passes, 2);
  EXPECT_DOUBLE_EQ(phase(summary, "b").us.median, 7);
}

TEST(PhaseSummary, AWaitIsTheTimeFromArrivingToBeingReleased) {
  const PhaseSummary summary = summarise({{{mark("a", 0), at(Kind::arrive, 4), at(Kind::released, 10), mark("b", 11), at(Kind::leave, 12)},
                                           {mark("a", 0), at(Kind::arrive, 9), at(Kind::released, 10), mark("b", 10), at(Kind::leave, 14)}}});
  EXPECT_EQ(summary.barriers, 1);
  EXPECT_DOUBLE_EQ(phase(summary, "a").wait_us.low, 1);
  EXPECT_DOUBLE_EQ(phase(summary, "a").wait_us.high, 6);
  EXPECT_DOUBLE_EQ(summary.wait_us.median, 3.5);
  // 9 us of the slower block, 1 us to the release, then 4 us of the second.
  EXPECT_DOUBLE_EQ(summary.critical_us, 13);
  EXPECT_DOUBLE_EQ(summary.barrier_us, 1);
  EXPECT_DOUBLE_EQ(phase(summary, "a").critical_us, 9);
  EXPECT_DOUBLE_EQ(phase(summary, "b").critical_us, 4);
}

TEST(PhaseSummary, TheCriticalPathTakesAnotherBlockInEachStretch) {
  const PhaseSummary summary = summarise({{{mark("a", 0), at(Kind::arrive, 8), at(Kind::released, 8), mark("b", 8), at(Kind::leave, 9)},
                                           {mark("a", 0), at(Kind::arrive, 2), at(Kind::released, 8), mark("b", 8), at(Kind::leave, 15)}}});
  EXPECT_DOUBLE_EQ(summary.critical_us, 15);
  EXPECT_DOUBLE_EQ(phase(summary, "a").critical_us, 8);
  EXPECT_DOUBLE_EQ(phase(summary, "b").critical_us, 7);
}

TEST(PhaseSummary, ABlockThatStartsLateIsLateOnTheCriticalPath) {
  const PhaseSummary summary = summarise({{{mark("a", 0), at(Kind::leave, 2)}, {mark("a", 5), at(Kind::leave, 6)}}});
  EXPECT_DOUBLE_EQ(summary.token_us, 6);
  EXPECT_DOUBLE_EQ(summary.critical_us, 6);
}

TEST(PhaseSummary, APhaseCalledWaitIsAWait) {
  const PhaseSummary summary = summarise({{{mark("a", 0), mark("wait for x", 3), mark("b", 10), at(Kind::leave, 11)},
                                           {mark("a", 0), mark("wait for x", 9), mark("b", 10), at(Kind::leave, 12)}}});
  EXPECT_EQ(summary.barriers, 1);
  EXPECT_DOUBLE_EQ(phase(summary, "wait for x").wait_us.median, 4);
  EXPECT_DOUBLE_EQ(summary.critical_us, 11);
}

TEST(PhaseSummary, WithoutWaitsInCommonTheSlowestBlockIsTheCriticalPath) {
  const PhaseSummary summary = summarise({{{mark("a", 0), at(Kind::arrive, 4), at(Kind::released, 10), at(Kind::leave, 11)},
                                           {mark("a", 0), at(Kind::leave, 12)}}});
  EXPECT_EQ(summary.barriers, 0);
  EXPECT_DOUBLE_EQ(summary.critical_us, 12);
}

TEST(PhaseSummary, PhasesThatOnlySomeBlocksReachAreCountedOverThose) {
  const PhaseSummary summary = summarise({{{mark("all", 0), mark("few", 4), at(Kind::leave, 9)}, {mark("all", 0), at(Kind::leave, 4)}, {}}});
  EXPECT_EQ(phase(summary, "all").blocks, 2);
  EXPECT_EQ(phase(summary, "few").blocks, 1);
  EXPECT_DOUBLE_EQ(phase(summary, "few").us.low, 5);
}

TEST(PhaseSummary, NamesTheBlocksThatWorkLonger) {
  LaunchStamps launch;
  for (int block = 0; block < 8; ++block) launch.push_back({mark("a", 0), at(Kind::leave, block == 5 ? 14 : block == 2 ? 12 : 10)});
  EXPECT_THAT(summarise({launch}).phases.front().stragglers, ElementsAre(5, 2));
}

TEST(PhaseSummary, BarriersWithoutMarksMakeOnePhaseTheKernel) {
  const PhaseSummary summary = summarise({{{at(Kind::arrive, 1), at(Kind::released, 3), at(Kind::arrive, 7), at(Kind::released, 9)}}});
  ASSERT_EQ(summary.phases.size(), 1u);
  EXPECT_EQ(summary.phases[0].name, "kernel");
  EXPECT_DOUBLE_EQ(summary.phases[0].wait_us.median, 4);
  EXPECT_EQ(summary.barriers, 2);
}

TEST(PhaseSummary, LooksAtTheMiddleHalfOfTheLaunches) {
  std::vector<LaunchStamps> launches;
  for (const double us : {900, 10, 12, 14, 16, 1, 11, 13}) launches.push_back({{mark("a", 0), at(Kind::leave, us)}});
  const PhaseSummary summary = summarise(launches);
  EXPECT_EQ(summary.launches, 4);
  EXPECT_DOUBLE_EQ(summary.token_us, 12.5);
}

TEST(PhaseSummary, OfNothingSaysNothing) {
  EXPECT_TRUE(summarise({}).phases.empty());
  EXPECT_TRUE(summarise({{{}, {}}}).phases.empty());
}

TEST(PhaseSummary, KnowsThePhaseThatMostBlocksAreIn) {
  const LaunchStamps launch{{mark("a", 10), mark("b", 12)}, {mark("a", 10), mark("b", 14)}, {mark("a", 10), mark("b", 16)}};
  EXPECT_EQ(phase_at(launch, 1), "a");
  EXPECT_EQ(phase_at(launch, 5), "b");
  EXPECT_EQ(phase_at(launch, -5), "");
}

TEST(ProfileStamps, BlocksThatStampedAnEarlierLaunchStampedNothing) {
  std::string head(2 * kStampBlockBytes, '\0');
  head[0] = 5, head[8] = 7;
  head[kStampBlockBytes] = 4, head[kStampBlockBytes + 8] = 6;
  EXPECT_THAT(stamps_made(head, 2, 7), ElementsAre(5u, 0u));
}

TEST(ProfileStamps, WhatIsNoStampIsAnError) {
  std::string bytes(kStampBytes, '\0');
  bytes[8] = 1, bytes[16] = 'k';
  ASSERT_TRUE(parse_stamps(bytes));
  EXPECT_EQ(parse_stamps(bytes)->front().name, "k");
  bytes[8] = 9;
  EXPECT_FALSE(parse_stamps(bytes));
}

TEST(ProfileStamps, TheBufferStaysSmallHoweverManyBlocksThereAre) {
  for (const std::uint64_t blocks : {1u, 132u, 100000u}) {
    EXPECT_GE(stamp_capacity(blocks), 1u);
    EXPECT_LE(stamp_buffer_bytes(blocks), (std::uint64_t{64} << 20) + blocks * (kStampBlockBytes + kStampBytes));
  }
}

}  // namespace
}  // namespace onelaunch::sandbox
