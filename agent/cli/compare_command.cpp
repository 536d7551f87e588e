#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/kernel_comparison.h"
#include "agent/cli/kernel_options.h"
#include "agent/cli/terminal.h"
#include "agent/loop/budget.h"
#include "agent/loop/limits.h"
#include "agent/loop/opening.h"
#include "base/files.h"
#include "tasks/catalog.h"

namespace onelaunch::cli {
namespace {

struct CompareOptions : KernelOptions {
  std::string limit = "1h";
  std::vector<std::string> kernels, defines;
  double pair_s = agent::SessionLimits{}.pair_s;
};

Result<std::vector<KernelVariant>> variants_of(const CompareOptions& options) {
  const auto combinations = tunable_combinations(options.defines);
  if (!combinations) return because(combinations.error());
  std::vector<KernelVariant> variants;
  for (const std::string& path : options.kernels) {
    const Result<std::string> source = read_file(path, agent::SessionLimits{}.source_bytes);
    if (!source) return because(source.error());
    for (const sandbox::TunableValues& values : *combinations)
      variants.push_back({path + (values.empty() ? "" : " ") + format_values(values), *source, values});
  }
  if (variants.size() < 2) return invalid("one kernel is nothing to compare: name another, or several values with -D NAME=1,2");
  if (variants.size() > kCombinationsMax)
    return invalid(std::to_string(variants.size()) + " kernels; at most " + std::to_string(kCombinationsMax) + " can be compared");
  return variants;
}

Result<int> compare(const CompareOptions& options) {
  const SystemClock clock;
  const Result<tasks::Task> task = tasks::load_task(options.task, options.variant);
  if (!task) return because(task.error());
  const auto variants = variants_of(options);
  if (!variants) return because(variants.error());
  const Result<Seconds> limit = agent::parse_wall(options.limit);
  if (!limit) return because(limit.error(), "--limit");
  ProgressLine progress;
  progress.busy("starting the device");
  auto sandbox = open_for(*task, options, clock);
  if (!sandbox) return because(sandbox.error());
  const ComparisonOptions how{.seed = options.seed ? *options.seed : agent::random_seed(),
                              .pair_s = options.pair_s,
                              .compile_s = agent::SessionLimits{}.compile_s,
                              .grade_s = limit->count()};
  const auto kernels = compare_kernels(**sandbox, *variants, how, clock, [&](const std::string& what) { progress.busy(what); });
  progress.done();
  if (!kernels) return because(kernels.error());
  std::cout << (options.json ? comparison_json(*kernels) + "\n" : (*sandbox)->device().name + ", " + comparison_text(*kernels));
  return std::ranges::all_of(*kernels, &ComparedKernel::passed) ? kOk : kRejected;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Check several kernels of a task and time each against the first.");
  add_kernel_options(*command, *options);
  command->add_option("KERNELS", options->kernels, "CUDA C++ sources")->required();
  command->add_option("--pair-s", options->pair_s, "Seconds of chains in pairs for each kernel on a GPU (default 1)")
      ->check(CLI::Range(0.001, 60.0));
  command->add_option("--limit", options->limit, "Longest time for the check of one kernel, such as 30s (default 1h)");
  command->add_option("-D", options->defines, "Values of a tunable, NAME=VALUE,...: every combination of all is a kernel")
      ->allow_extra_args(false);
  command->footer(
      "Exit status 0 all passed, 3 some were rejected.\n"
      "Example:\n  onelaunch compare rmsnorm_linear tasks/library/rmsnorm_linear/seed.cu -D BLOCK=128,256 --variant tiny "
      "--device emu");
  command->callback([options, &exit_code] {
    const Result<int> code = compare(*options);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace onelaunch::cli
