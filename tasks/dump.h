#pragma once
// `tasks dump`: every tensor of a task and the oracle's results as safetensors, so that anyone can check us elsewhere.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

struct DumpOptions {
  std::uint64_t seed = 1;     // of weights, states and tokens
  std::int64_t context = -1;  // cached tokens; -1: the sweep's first
  int steps = 1;
  InputSet set = InputSet::nominal;
  std::filesystem::path out;
};

// Writes graph.json (the ops, expanded), weights.safetensors, states.safetensors (before the first step) and steps.safetensors: "N.NAME" of each step's
// input and outputs, "after.NAME" of the states in the end. Returns what was written, one file a line.
Result<std::string> dump_task(const Task& task, const DumpOptions& options);

}  // namespace onelaunch::tasks
