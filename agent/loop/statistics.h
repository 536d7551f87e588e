#pragma once
// The few statistics that keep or revert rests on. Pure functions.

#include <span>
#include <vector>

#include "sandbox/host/measure.h"

namespace onelaunch::agent {

double mean_of(std::span<const double> values);       // 0 of none
using sandbox::median_of;
double deviation_of(std::span<const double> values);  // of a sample; 0 of fewer than two
// The standard error of the median of values that are normal but for outliers, from their absolute deviations.
double error_of_median(const std::vector<double>& values);

// Student's t with `freedom` >= 1 degrees of freedom: the chance of more than t, and the t of a chance in (0, 0.5].
double student_tail(double t, int freedom);
double student_quantile(double tail, int freedom);

// Whether each value is above `factor` times the median of those around it (10 on either side).
std::vector<bool> far_above_neighbours(std::span<const double> values, double factor);

}  // namespace onelaunch::agent
