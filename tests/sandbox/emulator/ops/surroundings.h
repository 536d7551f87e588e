#pragma once
// Faults that operations reported to the stand-in for the run loop.

#include <string>
#include <vector>

namespace onelaunch::emu::bench {
std::vector<std::string>& faults();
}
