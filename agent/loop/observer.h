#pragma once
// What a running session shows to whoever watches it. The trace is the record; this is the running commentary.

#include <string>

#include "agent/loop/agent.h"

namespace onelaunch::agent {

class Observer {
 public:
  virtual ~Observer() = default;
  // A fact of the opening or closing: ("baseline", "eager 812.4 us modelled, 33 launches a token").
  virtual void say(const std::string& topic, const std::string& line) = 0;
  // What is going on from now until the next call, for a progress line.
  virtual void busy(const std::string& what) = 0;
  virtual void decided(const Report& report) = 0;
  // What the agent has cost so far: "$1.23 of $10.00, 120k tokens".
  virtual void cost(const std::string&) {}
};

}  // namespace onelaunch::agent
