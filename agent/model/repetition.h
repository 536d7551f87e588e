#pragma once
// Recognises a model that does the same over and over.

#include <cstddef>
#include <deque>
#include <string>

namespace onelaunch::agent {

// One tool call and what came of it.
struct CallSeen {
  std::string name, arguments, output;
  std::string state;  // hash of what the tools keep after it: the same call on another candidate is not the same
  bool error = false;
};

enum class Repeating {
  no,
  warn,   // it is to be told so
  force,  // it is to be told to do something else
  stop,   // there is no point in going on
};

class RepetitionWatch {
 public:
  static constexpr int kWarnAt = 3, kForceAt = 6, kStopAt = 10;                    // the same call with the same outcome
  static constexpr int kErrorsWarnAt = 6, kErrorsForceAt = 12, kErrorsStopAt = 24; // calls in a row that failed
  static constexpr std::size_t kWindow = 40;                                       // calls looked back on

  // Warnings are given once at their count, not at every call above it.
  Repeating saw(const CallSeen& call);
  int times() const { return times_; }        // of the call seen last, in the window
  bool by_errors() const { return by_errors_; }  // what saw() said was about failing calls in a row

 private:
  std::deque<std::string> window_;
  int times_ = 0, errors_ = 0;
  bool by_errors_ = false;
};

// Times, addresses and such masked, so that outputs that say the same compare equal.
std::string without_times(const std::string& output);

}  // namespace onelaunch::agent
