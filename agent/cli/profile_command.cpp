#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/kernel_options.h"
#include "agent/cli/profile_json.h"
#include "agent/cli/report_text.h"
#include "agent/cli/terminal.h"
#include "agent/loop/budget.h"
#include "agent/loop/limits.h"
#include "agent/loop/profile_report.h"
#include "base/files.h"
#include "tasks/catalog.h"

namespace onelaunch::cli {
namespace {

struct ProfileOptions : KernelOptions {
  std::string kernel, limit = "1h";
  std::optional<std::int64_t> context;
  int launches = sandbox::ProfileRequest{}.launches;
  std::vector<std::string> defines;
  bool no_sass = false;
};

Result<int> profile(const ProfileOptions& options) {
  const SystemClock clock;
  const Result<tasks::Task> task = tasks::load_task(options.task, options.variant);
  if (!task) return because(task.error());
  const Result<std::string> source = read_file(options.kernel, agent::SessionLimits{}.source_bytes);
  if (!source) return because(source.error());
  const Result<sandbox::TunableValues> tunables = parse_defines(options.defines);
  if (!tunables) return because(tunables.error());
  const Result<Seconds> limit = agent::parse_wall(options.limit);
  if (!limit) return because(limit.error(), "--limit");
  ProgressLine progress;
  progress.busy("starting the device");
  auto sandbox = open_for(*task, options, clock);
  if (!sandbox) return because(sandbox.error());
  progress.busy("profiling");
  const auto profile = (*sandbox)->profile({.source = *source,
                                            .tunables = *tunables,
                                            .context = options.context,
                                            .seed = options.seed,
                                            .launches = options.launches,
                                            .sass = !options.no_sass},
                                           Deadline::after(clock, *limit));
  progress.done();
  if (!profile) return because(profile.error(), "profiling");
  std::cout << (options.json ? profile_json(*profile, (*sandbox)->device()) + "\n" : profile->log + agent::profile_text(*profile));
  return std::holds_alternative<sandbox::Passed>(profile->outcome) ? kOk : kRejected;
}

}  // namespace

void add_profile_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ProfileOptions>();
  CLI::App* command = app.add_subcommand("profile", "Where a kernel's time goes, by its OL_PHASE marks; what its OL_PROBE marks find.");
  add_kernel_options(*command, *options);
  command->add_option("KERNEL", options->kernel, "CUDA C++ source")->required();
  command->add_option("--context", options->context, "Cached tokens (default: the sweep's first)")->check(CLI::NonNegativeNumber);
  command->add_option("--launches", options->launches, "Launches that are looked at (default 20; emu: at most 2)")->check(CLI::Range(1, 64));
  command->add_option("--limit", options->limit, "Longest time for all, such as 30s (default 1h)");
  command->add_option("-D", options->defines, "Value of a tunable, NAME=VALUE")->allow_extra_args(false);
  command->add_flag("--no-sass", options->no_sass, "Do not disassemble");
  command->footer(
      "docs/profile.md explains the numbers. Exit status 0 profiled, 3 the kernel cannot be.\n"
      "Example:\n  onelaunch profile rmsnorm_linear tasks/library/rmsnorm_linear/seed.cu --variant tiny --device emu");
  command->callback([options, &exit_code] {
    const Result<int> code = profile(*options);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace onelaunch::cli
