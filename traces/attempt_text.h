#pragma once
// An attempt in words: one line each, safe for a terminal.

#include <string>

#include "traces/fold.h"

namespace onelaunch::traces {

// What it changes against its parent: "new source, BLOCK 256->512"; for a seed (no parent) all of its values.
std::string changes(const Attempt& attempt, const Attempt* parent);
// Which check failed where, with what it got and wanted.
std::string gate_line(const Gate& gate);

}  // namespace onelaunch::traces
