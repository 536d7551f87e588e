#pragma once
// Which loads wait for one another: loads that are issued before any of their results is used share one latency.

#include <cstdint>
#include <vector>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// By operation: true for the first global load of such a round. Rounds end at the ends of basic blocks.
std::vector<bool> first_of_rounds(const Program& program);

}  // namespace onelaunch::emu
