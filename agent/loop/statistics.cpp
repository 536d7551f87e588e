#include "agent/loop/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/check.h"

namespace onelaunch::agent {
namespace {

constexpr std::size_t kNeighbours = 10;
constexpr double kDeviationOverMad = 1.4826;     // of a normal distribution
constexpr double kMedianOverMeanError = 1.2533;  // square root of pi / 2

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double error_of_median(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double median = median_of(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - median));
  return kMedianOverMeanError * kDeviationOverMad * median_of(std::move(distances)) /
         std::sqrt(static_cast<double>(values.size()));
}

// The finite series for whole degrees of freedom.
double student_tail(double t, int freedom) {
  OL_CHECK(freedom >= 1, "Student's t needs a degree of freedom");
  if (t < 0) return 1 - student_tail(-t, freedom);
  const double theta = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double cosine = std::cos(theta);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (int power = odd ? 1 : 0; power <= freedom - 2; power += 2) {
    sum += term;
    term *= cosine * cosine * (power + 1) / (power + 2);
  }
  const double within = odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
  return std::max(0.0, (1 - within) / 2);
}

double student_quantile(double tail, int freedom) {
  OL_CHECK(tail > 0 && tail <= 0.5, "a chance of an upper tail");
  double low = 0, high = 1;
  while (student_tail(high, freedom) > tail && high < 1e12) high *= 2;
  for (int halvings = 0; halvings < 100; ++halvings) {
    const double middle = (low + high) / 2;
    (student_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return high;
}

std::vector<bool> far_above_neighbours(std::span<const double> values, double factor) {
  std::vector<bool> far(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t begin = i < kNeighbours ? 0 : i - kNeighbours;
    const std::size_t end = std::min(values.size(), i + kNeighbours + 1);
    const auto around = values.subspan(begin, end - begin);
    far[i] = values[i] > factor * median_of({around.begin(), around.end()});
  }
  return far;
}

}  // namespace onelaunch::agent
