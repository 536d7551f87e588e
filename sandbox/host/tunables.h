#pragma once
// OL_TUNABLE(NAME, default, v1, v2, ...): read from the source before it is compiled.

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/protocol/candidate.h"

namespace onelaunch::sandbox {

// All declarations in file order. Comments, strings and preprocessor lines are skipped; a declaration inside braces is
// refused. Errors (invalid_input) begin with "kernel.cu:LINE".
Result<std::vector<Tunable>> scan_tunables(const std::string& source);

// A value for every tunable: the requested one, else its default. Fails (invalid_input) on a name that the source does
// not declare and on a value that it does not list, naming those it does.
Result<TunableValues> choose_values(const std::vector<Tunable>& tunables, const TunableValues& requested);

}  // namespace onelaunch::sandbox
