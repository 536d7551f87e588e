#include "agent/tuner/search_space.h"

#include <algorithm>
#include <utility>

namespace onelaunch::agent {
namespace {

std::optional<int> index_of(const sandbox::Tunable& tunable, const std::string& value) {
  const auto found = std::find(tunable.values.begin(), tunable.values.end(), value);
  if (found == tunable.values.end()) return std::nullopt;
  return static_cast<int>(found - tunable.values.begin());
}

}  // namespace

SearchSpace::SearchSpace(std::vector<sandbox::Tunable> tunables) : tunables_(std::move(tunables)) {
  for (sandbox::Tunable& tunable : tunables_)
    if (!index_of(tunable, tunable.fallback)) tunable.values.insert(tunable.values.begin(), tunable.fallback);
}

double SearchSpace::points() const {
  double points = 1;
  for (const sandbox::Tunable& tunable : tunables_) points *= static_cast<double>(tunable.values.size());
  return points;
}

Point SearchSpace::defaults() const {
  Point point;
  for (const sandbox::Tunable& tunable : tunables_) point.push_back(index_of(tunable, tunable.fallback).value_or(0));
  return point;
}

sandbox::TunableValues SearchSpace::values_at(const Point& point) const {
  sandbox::TunableValues values;
  for (std::size_t d = 0; d < tunables_.size(); ++d)
    values[tunables_[d].name] = tunables_[d].values[static_cast<std::size_t>(point[d])];
  return values;
}

std::optional<Point> SearchSpace::point_of(const sandbox::TunableValues& values) const {
  Point point = defaults();
  for (std::size_t d = 0; d < tunables_.size(); ++d) {
    const auto named = values.find(tunables_[d].name);
    if (named == values.end()) continue;
    const auto index = index_of(tunables_[d], named->second);
    if (!index) return std::nullopt;
    point[d] = *index;
  }
  return point;
}

Point SearchSpace::point(std::uint64_t number) const {
  Point point;
  for (std::size_t d = 0; d < tunables_.size(); ++d) {
    const auto n = static_cast<std::uint64_t>(values(d));
    point.push_back(static_cast<int>(number % n));
    number /= n;
  }
  return point;
}

}  // namespace onelaunch::agent
