#pragma once
// A wish to end the session early (Ctrl-C), raised by any thread and read by the session. The first ends the work and
// lets the session close; the second skips the closing re-grade.

#include <atomic>

namespace onelaunch::agent {

class StopRequest {
 public:
  void raise() noexcept { ++times_; }
  int times() const noexcept { return times_; }

 private:
  std::atomic<int> times_{0};
};

enum class StopReason { cap, finished, interrupted, budget, error };
const char* name_of(StopReason reason);

}  // namespace onelaunch::agent
