// Whole sessions of the measured keep rule on simulated times: how often it keeps what it must not, and what it must.

#include <gtest/gtest.h>

#include <cmath>

#include "agent/loop/measured_rule.h"
#include "tests/fakes/noisy_timer.h"

namespace onelaunch::agent {
namespace {

using fakes::NoisyTimer;
using fakes::TimingNoise;

constexpr int kRounds = 13;  // about a second, at three contexts

struct Tally {
  int screened_out = 0, confirmed = 0, kept = 0, workers = 0;
};

// A session over candidates whose true gain is known. The timer, with its drift, lives as long as the session.
class SimulatedSession {
 public:
  explicit SimulatedSession(std::uint64_t seed, TimingNoise noise = {}) : timer_(seed, noise) {
    std::vector<WorkerGain> self;
    for (int i = 0; i < kConfirmingWorkers; ++i) self.push_back(worker({0, 0, 0}));
    rule_.noise = noise_floor(self);
  }

  void judge(const std::vector<double>& gains) {
    if (!screen_measured(worker(gains), rule_).promising) {
      ++tally_.screened_out;
      return;
    }
    ++tally_.confirmed;
    std::vector<WorkerGain> workers;
    do workers.push_back(worker(gains));
    while (std::ssize(workers) < kConfirmingWorkers && !beyond_hope(workers, rule_));
    tally_.workers += static_cast<int>(workers.size());
    if (decide_measured(workers, rule_, tally_.confirmed).keep) ++tally_.kept;
  }

  void judge_many(int n, double gain) {
    for (int i = 0; i < n; ++i) judge({gain, gain, gain});
  }

  const Tally& tally() const { return tally_; }
  const MeasuredRule& rule() const { return rule_; }

 private:
  // A gain of 0.01 is one percent.
  WorkerGain worker(const std::vector<double>& gains) {
    std::vector<NoisyTimer::Truth> truths;
    for (std::size_t i = 0; i < gains.size(); ++i) {
      const double us = 120.0 + 10.0 * static_cast<double>(i);
      truths.push_back({.context = 2048 << (2 * i), .candidate_us = us / (1 + gains[i]), .against_us = us});
    }
    for (;;) {
      sandbox::Grade grade;
      timer_.start();
      grade.pairs = timer_.worker(truths, kRounds);
      WorkerGain found = gain_of(grade);
      if (found.unusable.empty()) return found;
    }
  }

  NoisyTimer timer_;
  MeasuredRule rule_;
  Tally tally_;
};

int sessions_with_a_keep(int sessions, int candidates, double gain, TimingNoise noise) {
  int with = 0;
  for (int i = 0; i < sessions; ++i) {
    SimulatedSession session(static_cast<std::uint64_t>(1000 + i), noise);
    session.judge_many(candidates, gain);
    if (session.tally().kept > 0) ++with;
  }
  return with;
}

double power(double gain, TimingNoise noise) {
  int kept = 0, judged = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedSession session(seed, noise);
    session.judge_many(10, gain);
    kept += session.tally().kept, judged += 10;
  }
  return static_cast<double>(kept) / judged;
}

TEST(KeepSimulation, KeepsNothingWithoutEffectInSessionsOfAThousandCandidates) {
  EXPECT_EQ(sessions_with_a_keep(4, 1000, 0, {}), 0);
}

TEST(KeepSimulation, HoldsItsErrorRateWhenWorkersDifferMuchAndTheClockJumps) {
  TimingNoise rough;
  rough.pair_sd = 0.004, rough.worker_sd = 0.004, rough.context_sd = 0.002;
  rough.jumps_a_second = 1, rough.wander_sd = 0.004, rough.spike_share = 0.02;
  EXPECT_LE(sessions_with_a_keep(10, 400, 0, rough), static_cast<int>(10 * kSessionErrorRate));
}

// Without the least gain, the screen and the A/A test before it, the error shares alone hold the rate.
TEST(KeepSimulation, HoldsItsErrorRateByTheIntervalsAlone) {
  fakes::Dice dice(7);
  const MeasuredRule bare{.min_gain = 0, .noise = {}};
  constexpr int kSessions = 400, kTests = 1000;
  int with = 0;
  for (int session = 0; session < kSessions; ++session) {
    int kept = 0;
    for (int test = 1; test <= kTests; ++test) {
      std::vector<WorkerGain> workers(kConfirmingWorkers);
      for (WorkerGain& worker : workers) worker.gain = 0.002 * dice.normal();
      if (decide_measured(workers, bare, test).keep) ++kept;
    }
    if (kept > 0) ++with;
  }
  EXPECT_LE(with, static_cast<int>(kSessions * kSessionErrorRate));
  EXPECT_GT(with, kSessions / 100) << "else the test does not test";
}

TEST(KeepSimulation, KeepsNineOfTenTrueGainsOfOnePercent) { EXPECT_GE(power(0.01, {}), 0.9); }

TEST(KeepSimulation, KeepsHalfOfTrueGainsOfHalfAPercent) { EXPECT_GE(power(0.005, {}), 0.5); }

TEST(KeepSimulation, HasThatPowerWhenWorkersDifferTwiceAsMuch) {
  TimingNoise doubled;
  doubled.worker_sd = 0.001, doubled.context_sd = 0.0006;
  EXPECT_GE(power(0.01, doubled), 0.9);
  EXPECT_GE(power(0.005, doubled), 0.5);
}

TEST(KeepSimulation, NeverKeepsAPlantedSlowdown) {
  SimulatedSession session(3);
  session.judge_many(300, -0.02);
  EXPECT_EQ(session.tally().kept, 0);
  EXPECT_EQ(session.tally().confirmed, 0) << "a screen is enough to see two percent";
}

TEST(KeepSimulation, NeverKeepsAGainThatOneContextPaysFor) {
  SimulatedSession session(4);
  for (int i = 0; i < 100; ++i) session.judge({0.03, 0.03, -0.02});
  EXPECT_EQ(session.tally().kept, 0);
}

TEST(KeepSimulation, KeepsAtMostOneOfTwoHundredEditsOfComments) {
  for (std::uint64_t seed = 50; seed < 55; ++seed) {
    SimulatedSession session(seed);
    session.judge_many(200, 0);
    EXPECT_LE(session.tally().kept, 1) << seed;
    EXPECT_GE(session.tally().screened_out, 180) << "most of what gains nothing costs one worker";
  }
}

TEST(KeepSimulation, SpendsFewWorkersOnGainsBelowTheLeast) {
  SimulatedSession session(9);
  session.judge_many(200, 0.001);
  EXPECT_EQ(session.tally().kept, 0);
  EXPECT_LT(session.tally().workers, 3 * std::max(session.tally().confirmed, 1) + 1);
}

TEST(KeepSimulation, SeesTheNoiseOfItsMachine) {
  TimingNoise rough;
  rough.worker_sd = 0.004;
  double quiet_sd = 0, rough_sd = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    quiet_sd += SimulatedSession(seed).rule().noise.worker_sd / 20;
    rough_sd += SimulatedSession(seed, rough).rule().noise.worker_sd / 20;
  }
  EXPECT_NEAR(quiet_sd, std::sqrt(0.0005 * 0.0005 + 0.0003 * 0.0003 / 3), 0.00015);
  EXPECT_NEAR(rough_sd, 0.004, 0.001);
}

}  // namespace
}  // namespace onelaunch::agent
