#pragma once
// What each tool is called, what its author is told about it, and its arguments.

#include <string>
#include <vector>

#include "agent/tools/arguments.h"

namespace onelaunch::agent {

struct ToolEntry {
  std::string name, description;
  std::vector<Field> fields;
  bool slow = false;  // may take longer than 30 s
};

// The order is part of what models have cached: it never changes.
const std::vector<ToolEntry>& tool_entries();
const ToolEntry* find_tool(const std::string& name);  // null: there is none

}  // namespace onelaunch::agent
