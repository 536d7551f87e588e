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
  bool derived = false;  // from the task's seed: each launch costs as much as the seed's
};

// "returns": a kernel that returns at once. "zeros": one that writes zeros to every output.
// Then, where the task's seed has the texts to be changed: "stale_output", the seed with the output of the token before;
// "skipped_layer", without its last layer; "frozen_state", with a state left as it was. A task whose seed lacks a text
// goes without that control.
std::vector<ControlKernel> control_kernels(const tasks::Task& task);

// Derived controls take seconds each on a GPU, and a step of the seed on an emulator, which is too much there where the
// weights are large (over 256 MiB).
bool affords_derived_controls(const tasks::Task& task, bool emulated);

}  // namespace onelaunch::agent
