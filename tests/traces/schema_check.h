#pragma once
// Lines of a trace against traces/schema.json.

#include <string>

namespace onelaunch::traces {

// What the schema has against the line; empty when nothing.
std::string schema_problem(const std::string& line);

}  // namespace onelaunch::traces
