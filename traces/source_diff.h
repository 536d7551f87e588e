#pragma once
// A unified diff of two sources, for reading.

#include <string>
#include <string_view>

namespace onelaunch::traces {

// Hunks with three lines of context, each line of text one_line()d; empty when the sources are equal.
std::string source_diff(std::string_view before, std::string_view after);

}  // namespace onelaunch::traces
