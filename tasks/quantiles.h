#pragma once
// The inverse of the standard normal distribution function.

namespace onelaunch::tasks {

// For 0 < p < 1, with a relative error of about 1e-16.
double normal_quantile(double p);

}  // namespace onelaunch::tasks
