#pragma once
// What a compile says, for the author of the source.

#include <cstddef>
#include <string>

#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// Resources, launch, tunables and warnings; or the first errors with their lines. At most about bytes_max.
std::string compile_text(const sandbox::Compiled& compiled, std::size_t bytes_max);
// The first errors of a compiler's log with what belongs to them, and how many more there are.
std::string first_errors(const std::string& log, std::size_t bytes_max);
// "A=1 B=2"
std::string values_text(const sandbox::TunableValues& values);

}  // namespace onelaunch::agent
