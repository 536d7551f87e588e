#pragma once
// A device's ceilings as a table for people.

#include <string>

#include "sandbox/host/ceilings.h"

namespace onelaunch::cli {

std::string ceilings_text(const sandbox::Ceilings& ceilings);

}  // namespace onelaunch::cli
