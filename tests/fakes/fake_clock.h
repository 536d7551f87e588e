#pragma once
// A clock that stands still until it is told to go on. Any thread.

#include <atomic>
#include <string>

#include "base/clock.h"

namespace onelaunch::fakes {

class FakeClock final : public Clock {
 public:
  Seconds now() const override { return Seconds(seconds_.load()); }
  std::string utc_now() const override { return "2026-12-01T05:09:06.123Z"; }
  void advance(double seconds) {
    for (double before = seconds_.load(); !seconds_.compare_exchange_weak(before, before + seconds);) {
    }
  }

 private:
  std::atomic<double> seconds_{1000};
};

}  // namespace onelaunch::fakes
