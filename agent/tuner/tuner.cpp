#include "agent/tuner/tuner.h"

#include <algorithm>
#include <utility>

#include "sandbox/host/tunables.h"

namespace onelaunch::agent {
namespace {

constexpr int kPairsPerRestart = 12;  // random pairs tried before a random restart
constexpr int kDrawsMax = 64;         // random draws before a random move is given up
constexpr int kFailuresThatTell = 3;  // of one value, with no pass: it is left for last

std::string describe(const SearchSpace& space, const Point& from, const Point& to) {
  std::string text;
  for (std::size_t d = 0; d < space.dimensions(); ++d) {
    if (from[d] == to[d]) continue;
    const sandbox::Tunable& tunable = space.tunable(d);
    text += (text.empty() ? "" : ", ") + tunable.name + " " + tunable.values[static_cast<std::size_t>(from[d])] +
            " -> " + tunable.values[static_cast<std::size_t>(to[d])];
  }
  return text;
}

}  // namespace

Result<void> Tuner::begin(const Brief& brief) {
  source_ = brief.seed_source;
  Result<std::vector<sandbox::Tunable>> tunables = sandbox::scan_tunables(source_);
  if (!tunables) return because(tunables.error(), "reading the seed kernel's tunables");
  space_ = SearchSpace(std::move(*tunables));
  for (const Report& report : brief.history) {
    const auto point = space_.point_of(report.proposal.tunables);
    if (!point || report.proposal.source != source_) continue;
    proposed_.insert(*point);
    learn(*point, report);
  }
  if (best_) descent_ = best_;
  return {};
}

Result<std::optional<Proposal>> Tuner::ask(Deadline) {
  const std::optional<Point> point = next_point();
  if (!point) return std::optional<Proposal>();
  const Point from = descent_ ? descent_->point : space_.defaults();
  return std::optional<Proposal>(propose(*point, note_ + ": " + describe(space_, from, *point)));
}

Proposal Tuner::propose(const Point& point, const std::string& note) {
  proposed_.insert(point);
  return {.source = source_, .tunables = space_.values_at(point), .parent = "", .note = note, .prediction_us = {}};
}

void Tuner::tell(const Report& report) {
  const auto point = space_.point_of(report.proposal.tunables);
  if (!point) return;
  const bool was_restart = restart_ == point;
  if (was_restart) restart_.reset();
  learn(*point, report);
  const std::optional<double> us = score(report);
  if (!us) return;
  if (was_restart || !descent_ || *us < descent_->us) {
    descent_ = Base{.point = *point, .us = *us};
    barren_dimensions_ = 0;
    if (was_restart) dimension_ = 0;
  }
}

// What a quick check let go has no score, but its ratio to the best places it well enough for a descent. So does the
// ratio of measured times, better than a score: workers differ by more than the pairs within one.
std::optional<double> Tuner::score(const Report& report) const {
  if (report.verdict == Verdict::quarantine) return std::nullopt;
  const bool own_score = report.us && (report.modelled || report.verdict == Verdict::keep);
  if (own_score || !best_ || !report.over_incumbent || !(*report.over_incumbent > 0)) return report.us;
  return best_->us / *report.over_incumbent;
}

void Tuner::learn(const Point& point, const Report& report) {
  if (report.verdict == Verdict::unjudged) return;
  for (std::size_t d = 0; d < point.size(); ++d) {
    auto& [passed, failed] = tried_[{d, point[d]}];
    ++(report.verdict == Verdict::reject ? failed : passed);
  }
  if (report.verdict == Verdict::quarantine) return;
  if (!report.modelled && report.verdict != Verdict::keep && best_) return;
  if (!report.us || (best_ && *report.us >= best_->us)) return;
  best_ = Base{.point = point, .us = *report.us};
  explored_ = 0;
}

bool Tuner::is_hopeless(const Point& point) const {
  for (std::size_t d = 0; d < point.size(); ++d) {
    const auto tried = tried_.find({d, point[d]});
    if (tried != tried_.end() && tried->second.first == 0 && tried->second.second >= kFailuresThatTell) return true;
  }
  return false;
}

std::optional<Point> Tuner::next_point() {
  if (is_new(space_.defaults())) return note_ = "the defaults", space_.defaults();
  if (const auto point = next_of_descent()) return note_ = "one tunable", point;
  if (explored_++ % (kPairsPerRestart + 1) < kPairsPerRestart) {
    if (const auto point = random_pair()) return note_ = "a pair", point;
  }
  if (const auto point = random_point()) {
    restart_ = point;
    return note_ = "a random restart", point;
  }
  if (const auto point = any_left()) return note_ = "what is left", point;
  return std::nullopt;
}

// The next untried value of the present tunable, or of one after it, until a whole round brought no gain.
std::optional<Point> Tuner::next_of_descent() {
  if (!descent_) return std::nullopt;
  const int dimensions = static_cast<int>(space_.dimensions());
  while (barren_dimensions_ < dimensions) {
    for (int value = 0; value < space_.values(dimension_); ++value) {
      Point point = descent_->point;
      point[dimension_] = value;
      if (is_new(point) && !is_hopeless(point)) return point;
    }
    dimension_ = (dimension_ + 1) % space_.dimensions();
    ++barren_dimensions_;
  }
  return std::nullopt;
}

std::optional<Point> Tuner::random_pair() {
  if (!best_ || space_.dimensions() < 2) return std::nullopt;
  for (int draw = 0; draw < kDrawsMax; ++draw) {
    Point point = best_->point;
    for (int change = 0; change < 2; ++change) {
      const auto d = static_cast<std::size_t>(below(static_cast<int>(space_.dimensions())));
      point[d] = below(space_.values(d));
    }
    if (is_new(point) && !is_hopeless(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> Tuner::random_point() {
  for (int draw = 0; draw < kDrawsMax; ++draw) {
    Point point;
    for (std::size_t d = 0; d < space_.dimensions(); ++d) point.push_back(below(space_.values(d)));
    if (is_new(point) && !is_hopeless(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> Tuner::any_left() {
  const double points = space_.points();
  for (; static_cast<double>(scan_) < points; ++scan_) {
    Point point = space_.point(scan_);
    if (is_new(point)) return point;
  }
  return std::nullopt;
}

int Tuner::below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(std::max(1, limit))); }

}  // namespace onelaunch::agent
