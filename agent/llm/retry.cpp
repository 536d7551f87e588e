#include "agent/llm/retry.h"

#include <algorithm>
#include <cmath>

namespace onelaunch::llm {

Backoff::Backoff(const CallLimits& limits, std::uint64_t seed)
    : first_(limits.backoff_first), max_(limits.backoff_max), random_(seed ? seed : std::random_device{}()) {}

Seconds Backoff::wait(int number, std::optional<double> asked_s) {
  const double jitter = std::uniform_real_distribution<double>(0, 0.25)(random_);
  if (asked_s) return Seconds(*asked_s * (1 + jitter / 5));  // never earlier than asked
  return std::min(first_ * std::exp2(std::min(number - 1, 30)), max_) * (1 - jitter);
}

}  // namespace onelaunch::llm
