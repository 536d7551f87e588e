#pragma once
// Paired times as a GPU gives them, from a seed: noise of each chain, what is fixed for a worker's life, a clock that
// warms up, wanders and jumps, and samples that something disturbed. The same numbers on every machine.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "sandbox/host/sandbox.h"

namespace onelaunch::fakes {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  // splitmix64
  std::uint64_t word() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return (static_cast<double>(word() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::uint64_t state_;
};

// Fractions. The defaults are those of one large GPU, the spread between workers on the safe side.
struct TimingNoise {
  double pair_sd = 0.0014;                         // of the log ratio of a pair
  double worker_sd = 0.0005, context_sd = 0.0003;  // of the log ratio, for a worker's life; and of each context of it
  double warm_up = 0.0014, warm_up_s = 0.7;        // slower when warm
  double wander_sd = 0.0005;                       // of a random walk, in a second
  double jump = 0.015, jumps_a_second = 0.05;      // of the clock, there and back
  double spike_share = 0.01;                       // of chains: 1.25 to 30 times as long
  double strict_over_nominal = 1.004;
};

class NoisyTimer {
 public:
  explicit NoisyTimer(std::uint64_t seed, TimingNoise noise = {}) : dice_(seed), noise_(noise) {}

  struct Truth {
    std::int64_t context = 0;
    double candidate_us = 0, against_us = 0;  // on nominal inputs
  };
  // A fresh worker begins, on a card that has cooled down.
  void start() { since_start_s_ = 0; }

  // A kernel by itself.
  std::vector<double> alone(double us, int chains) {
    std::vector<double> samples;
    for (int i = 0; i < chains; ++i) samples.push_back(chain(us));
    return samples;
  }

  // All pairs of a worker: rounds over all contexts and both kinds of inputs; in each the two kernels run in the order
  // abba or baab.
  std::vector<sandbox::PairedTimes> worker(const std::vector<Truth>& truths, int rounds) {
    const double offset = noise_.worker_sd * dice_.normal();
    std::vector<double> offsets;
    std::vector<sandbox::PairedTimes> pairs;
    for (const Truth& truth : truths) {
      offsets.push_back(offset + noise_.context_sd * dice_.normal());
      pairs.push_back({.context = truth.context, .candidate_us = {}, .against_us = {}});
    }
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < truths.size(); ++i) add_round(pairs[i], truths[i], offsets[i]);
    return pairs;
  }

 private:
  // Two pairs on either kind of inputs, in turn.
  void add_round(sandbox::PairedTimes& pairs, const Truth& truth, double offset) {
    double candidate[2][2], against[2][2];
    for (int strict = 0; strict < 2; ++strict) {
      const double factor = strict == 1 ? noise_.strict_over_nominal : 1;
      const bool first = dice_.word() % 2 == 0;
      for (int pair = 0; pair < 2; ++pair)
        for (int turn = 0; turn < 2; ++turn)
          if ((turn == 0) == (first == (pair == 0)))
            candidate[strict][pair] = chain(truth.candidate_us * factor * std::exp(offset / 2));
          else
            against[strict][pair] = chain(truth.against_us * factor * std::exp(-offset / 2));
    }
    for (int pair = 0; pair < 2; ++pair)
      for (int strict = 0; strict < 2; ++strict) {
        pairs.candidate_us.push_back(candidate[strict][pair]);
        pairs.against_us.push_back(against[strict][pair]);
      }
  }

  double chain(double us) {
    constexpr double kChainS = 0.0032;
    since_start_s_ += kChainS;
    walk_ += noise_.wander_sd * std::sqrt(kChainS) * dice_.normal();
    if (dice_.uniform() < noise_.jumps_a_second * kChainS) jumped_ = !jumped_;
    const double warm = noise_.warm_up * (1 - std::exp(-since_start_s_ / noise_.warm_up_s));
    double seen =
        us * std::exp(warm + walk_ + (jumped_ ? noise_.jump : 0) + noise_.pair_sd / std::sqrt(2.0) * dice_.normal());
    if (dice_.uniform() < noise_.spike_share) seen *= 1.25 + 30 * std::pow(dice_.uniform(), 4);
    return seen;
  }

  Dice dice_;
  TimingNoise noise_;
  double since_start_s_ = 0, walk_ = 0;
  bool jumped_ = false;
};

}  // namespace onelaunch::fakes
