#pragma once
// The time as a port, so that sessions and deadlines are tested without waiting.

#include <chrono>
#include <string>

namespace onelaunch {

using Seconds = std::chrono::duration<double>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Seconds now() const = 0;         // monotonic, from an arbitrary start
  virtual std::string utc_now() const = 0; // "2026-12-01T05:09:06.123Z"
};

class SystemClock final : public Clock {
 public:
  Seconds now() const override;
  std::string utc_now() const override;
};

// A moment on a Clock that nothing may outlive.
struct Deadline {
  Seconds at;
  static Deadline after(const Clock& clock, Seconds wait) { return {clock.now() + wait}; }
  Seconds left(const Clock& clock) const { return at - clock.now(); }
  bool passed(const Clock& clock) const { return left(clock) <= Seconds(0); }
};

}  // namespace onelaunch
