// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988), PPND16
// without its far tail. Of the 65,536 quantiles that are used, none lies closer to a boundary between two f32 values
// than 1.2e-12 (relative), while this is off by at most 7e-16: the f32 table does not depend on the C library's log().
#include "tasks/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace onelaunch::tasks {
namespace {

using Coefficients = std::array<double, 8>;  // ascending powers

constexpr Coefficients kCentreAbove = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                       1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                       3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr Coefficients kCentreBelow = {1.0,
                                       4.2313330701600911252e+1,
                                       6.8718700749205790830e+2,
                                       5.3941960214247511077e+3,
                                       2.1213794301586595867e+4,
                                       3.9307895800092710610e+4,
                                       2.8729085735721942674e+4,
                                       5.2264952788528545610e+3};
constexpr Coefficients kTailAbove = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                     3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients kTailBelow = {1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};

double polynomial(const Coefficients& coefficients, double x) {
  double value = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;) value = value * x + coefficients[i];
  return value;
}

}  // namespace

double normal_quantile(double p) {
  OL_CHECK(p > 1e-10 && p < 1 - 1e-10, "the far tail is not implemented");
  const double offset = p - 0.5;
  if (std::abs(offset) <= 0.425) {
    const double r = 0.180625 - offset * offset;
    return offset * polynomial(kCentreAbove, r) / polynomial(kCentreBelow, r);
  }
  const double r = std::sqrt(-std::log(std::min(p, 1 - p))) - 1.6;
  const double size = polynomial(kTailAbove, r) / polynomial(kTailBelow, r);
  return offset < 0 ? -size : size;
}

}  // namespace onelaunch::tasks
