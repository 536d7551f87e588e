#pragma once
// The points that a kernel's tunables span: one value index for each tunable.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/protocol/candidate.h"

namespace onelaunch::agent {

using Point = std::vector<int>;

class SearchSpace {
 public:
  explicit SearchSpace(std::vector<sandbox::Tunable> tunables);

  std::size_t dimensions() const { return tunables_.size(); }
  int values(std::size_t dimension) const { return static_cast<int>(tunables_[dimension].values.size()); }
  const sandbox::Tunable& tunable(std::size_t dimension) const { return tunables_[dimension]; }
  double points() const;  // their number; a double, as it may be astronomically large
  Point defaults() const;
  sandbox::TunableValues values_at(const Point& point) const;
  // Nothing when a value is not among the listed ones. Tunables not named have their default.
  std::optional<Point> point_of(const sandbox::TunableValues& values) const;
  // Every point by number, 0 to points() - 1, the first dimension running fastest.
  Point point(std::uint64_t number) const;

 private:
  std::vector<sandbox::Tunable> tunables_;
};

}  // namespace onelaunch::agent
