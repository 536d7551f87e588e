#pragma once
// How long to wait before a failed call is tried again.

#include <cstdint>
#include <optional>
#include <random>

#include "agent/llm/chat.h"

namespace onelaunch::llm {

class Backoff {
 public:
  // Seed 0: a random one. Many sessions that fail together must not come back together.
  Backoff(const CallLimits& limits, std::uint64_t seed);
  // Before retry `number` (from 1): what the provider asks for, else doubling up to the limit, less up to a quarter.
  Seconds wait(int number, std::optional<double> asked_s);

 private:
  Seconds first_, max_;
  std::mt19937_64 random_;
};

}  // namespace onelaunch::llm
