#include "agent/cli/kernel_options.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace onelaunch::cli {

void add_kernel_options(CLI::App& command, KernelOptions& options) {
  command.add_option("TASK", options.task, "Name of a task or path to a task.json")->required();
  command.add_option("--variant", options.variant, "Variant of the task, such as tiny");
  command.add_option("--device", options.device, "auto (default), cuda:N or emu");
  command.add_option("--target", options.target, "GPU architecture to compile for (default sm_90a)");
  command.add_option("--seed", options.seed, "Of weights, states and tokens; random when absent");
  command.add_flag("--json", options.json, "The result as JSON");
}

Result<std::unique_ptr<sandbox::Sandbox>> open_for(const tasks::Task& task, const KernelOptions& options, const Clock& clock) {
  auto sandbox =
      open_device(task, {.device = options.device, .target = options.target, .weight_seed = options.seed}, clock);
  if (!sandbox) return sandbox;
  for (const std::string& warning : (*sandbox)->device().warnings) std::cerr << "onelaunch: warning: " << warning << "\n";
  return sandbox;
}

}  // namespace onelaunch::cli
