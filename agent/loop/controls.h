#pragma once
// Kernels that must fail the gate, made for any task. A session whose control passes refuses to open: its gate is
// blind.

#include <string>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::agent {

struct ControlKernel {
  std::string name;  // "zeros"
  std::string source;
};

// "returns": a kernel that returns at once. "zeros": one that writes zeros to every output.
std::vector<ControlKernel> control_kernels(const tasks::Task& task);

}  // namespace onelaunch::agent
