#pragma once
// The torch baselines: tasks/torch_baseline.py in a process of its own, on a dump of the task.

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/host/interrupts.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct TorchOptions {
  std::string python = "python3";       // found on PATH
  std::filesystem::path script;         // empty: torch_baseline.py beside the task library
  std::filesystem::path scratch;        // empty: the system's folder for temporary files
  std::uint64_t seed = 1;               // of the dump's weights, states and tokens; not those of a session
  std::vector<std::string> modes{"torch", "torch-graph", "torch-compile"};
  std::string device = "cuda";          // or "cpu", for trying it
};

struct TorchResult {
  BaselineResult baseline;  // named by its mode
  std::string problem;      // not empty: this mode could not be run, and why
};

// Every mode at every context of the sweep: the errors against the oracle as gates, device time per token as measured,
// wall time beside it. Fails (unavailable) when python or torch is missing, saying how to get it, and when the deadline
// passes: the process group is killed then.
Result<std::vector<TorchResult>> torch_baselines(const tasks::Task& task, const TorchOptions& options, const Clock& clock,
                                                 Deadline deadline, const Interrupts::Scope& interrupts);

}  // namespace onelaunch::sandbox
