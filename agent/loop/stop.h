#pragma once
// A wish to end the session early (Ctrl-C), raised by any thread and read by the session. The first ends the work and
// lets the session close; the second skips the closing re-grade.

#include <atomic>
#include <string>

namespace onelaunch::agent {

class StopRequest {
 public:
  void raise() noexcept { ++times_; }
  int times() const noexcept { return times_; }

 private:
  std::atomic<int> times_{0};
};

enum class StopReason {
  cap,
  finished,
  interrupted,
  budget,
  error,
  // What a model or its provider ended; never the fault of a candidate.
  model_refused,
  authentication,
  quota,
  provider_outage,
  context_overflow,
  loop,  // the model did the same over and over
};
const char* name_of(StopReason reason);

// Why an agent has no further proposal, in one line.
struct AgentEnd {
  StopReason reason = StopReason::finished;
  std::string why;
};

}  // namespace onelaunch::agent
