#pragma once
// Reads the aliases, blocks and ops of a task file, and resolves every name that they use.

#include "tasks/parse_context.h"
#include "tasks/parse_tensors.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

// The tensors must have been read.
void parse_ops(ParseContext& context, const JsonNode& root, const Names& dims, Task& task, const Lines& lines);

}  // namespace onelaunch::tasks
