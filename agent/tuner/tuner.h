#pragma once
// Searches the tunables that the seed kernel declares. No model, no key: the agent that is always there.
//
// It starts from the best point known and goes through one tunable after the other, trying each of its other values
// with the rest held (coordinate descent). When a whole round brings nothing it changes random pairs of tunables of the
// best point, and now and then descends from a random point. No point is proposed twice, also not after a resume. It
// is exhausted when every point has been proposed.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "agent/loop/agent.h"
#include "agent/tuner/search_space.h"

namespace onelaunch::agent {

class Tuner final : public Agent {
 public:
  // The same seed and the same answers give the same proposals.
  explicit Tuner(std::uint64_t seed = 1) : random_(seed) {}

  std::string name() const override { return "tuner"; }
  Result<void> begin(const Brief& brief) override;
  Result<std::optional<Proposal>> ask(Deadline deadline) override;
  void tell(const Report& report) override;
  bool looks_ahead() const override { return true; }

 private:
  struct Base {  // where a descent stands
    Point point;
    double us = 0;
  };

  std::optional<Point> next_point();
  std::optional<Point> next_of_descent();
  std::optional<Point> random_pair();
  std::optional<Point> random_point();
  std::optional<Point> any_left();
  bool is_new(const Point& point) const { return !proposed_.contains(point); }
  bool is_hopeless(const Point& point) const;
  std::optional<double> score(const Report& report) const;
  void learn(const Point& point, const Report& report);
  int below(int limit);  // uniform in 0 to limit - 1, the same on every platform
  Proposal propose(const Point& point, const std::string& note);

  std::string source_;
  SearchSpace space_{{}};
  std::mt19937_64 random_;
  std::set<Point> proposed_;
  std::map<std::pair<std::size_t, int>, std::pair<int, int>> tried_;  // (tunable, value) -> passed, failed
  std::optional<Base> best_;
  std::optional<Base> descent_;   // its point is the best of the present descent
  std::size_t dimension_ = 0;     // that the descent is in
  int barren_dimensions_ = 0;     // gone through in a row without a gain
  int explored_ = 0;              // points proposed by chance since the last gain
  std::optional<Point> restart_;  // proposed as the start of a new descent, not judged yet
  std::uint64_t scan_ = 0;        // points below this number have been proposed
  std::string note_;
};

}  // namespace onelaunch::agent
