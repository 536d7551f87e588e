#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "agent/cli/ceilings_text.h"
#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/open_device.h"
#include "agent/cli/terminal.h"
#include "sandbox/host/cuda_sandbox.h"

namespace onelaunch::cli {
namespace {

struct MicrobenchOptions {
  std::string device = "auto", target = "sm_90a";
  bool fresh = false, json = false;
};

Result<sandbox::Ceilings> ceilings_of(const MicrobenchOptions& options) {
  const SystemClock clock;
  const Result<std::string> device = choose_device(options.device);
  if (!device) return because(device.error());
  if (*device == "emu") return sandbox::emulated_ceilings("", options.target, clock);
  sandbox::CudaOptions cuda;
  cuda.ordinal = std::atoi(device->substr(device->find(':') + 1).c_str());
  cuda.purpose = "onelaunch microbench";
  cuda.fresh_ceilings = options.fresh;
  return sandbox::cuda_ceilings(cuda, clock);
}

Result<int> show_ceilings(const MicrobenchOptions& options) {
  ProgressLine progress;
  progress.busy("measuring the device");
  const auto ceilings = ceilings_of(options);
  progress.done();
  if (!ceilings) return because(ceilings.error());
  std::cout << (options.json ? sandbox::to_json(*ceilings) + "\n" : ceilings_text(*ceilings));
  return kOk;
}

}  // namespace

void add_microbench_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<MicrobenchOptions>();
  CLI::App* command = app.add_subcommand("microbench", "Measure what a device can do at best: reads, grid barrier, launch.");
  command->add_option("--device", options->device, "auto (default), cuda:N or emu, whose ceilings are its profile's");
  command->add_option("--target", options->target, "emu: GPU architecture (default sm_90a)");
  command->add_flag("--fresh", options->fresh, "Measure again; else what was measured within a day is shown");
  command->add_flag("--json", options->json, "The result as JSON");
  command->footer("Sessions take their floors from these.\nExample:\n  onelaunch microbench --device cuda:0 --fresh");
  command->callback([options, &exit_code] {
    const Result<int> code = show_ceilings(*options);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace onelaunch::cli
