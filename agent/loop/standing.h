#pragma once
// A judged kernel that others are compared with.

#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

struct Standing {
  std::string id;
  Proposal proposal;  // tunables: all of them
  sandbox::Compiled compiled;
  std::vector<sandbox::Measurement> times;
  double us = 0;  // score
};

}  // namespace onelaunch::agent
