#pragma once
// Reads the weights, states, inputs and outputs of a task file.

#include <map>
#include <string>

#include "tasks/parse_context.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

using Lines = std::map<std::string, int>;  // of tensors and int4 weights, by name

void parse_tensors(ParseContext& context, const JsonNode& root, const Names& dims, Task& task, Lines& lines);

}  // namespace onelaunch::tasks
