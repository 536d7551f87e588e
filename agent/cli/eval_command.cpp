#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/kernel_options.h"
#include "agent/cli/report_text.h"
#include "agent/cli/terminal.h"
#include "agent/loop/budget.h"
#include "agent/loop/limits.h"
#include "base/files.h"
#include "sandbox/host/grade_plan.h"
#include "tasks/catalog.h"

namespace onelaunch::cli {
namespace {

struct EvalOptions : KernelOptions {
  std::string kernel, check = "all", limit = "1h";
  std::vector<std::int64_t> contexts;
  int schedules = 1;
  bool detect = false;
  std::vector<std::string> defines;
};

using Json = nlohmann::ordered_json;

Json measurement_json(const sandbox::Measurement& time) {
  Json json = {{"context", time.context},
               {"kind", time.modelled ? "modelled" : "measured"},
               {"us", time.us_median},
               {"dram_mb", time.dram_mb},
               {"barriers", time.barriers},
               {"warp_instructions", time.warp_instructions},
               {"host_seconds", time.host_seconds}};
  if (time.device) {
    const sandbox::DeviceTimes& device = *time.device;
    json["us_low"] = time.us_low, json["us_high"] = time.us_high, json["n"] = time.n, json["raw_us"] = time.raw_us;
    json["token_loop_us"] = device.token_loop_us;
    json["wall_us"] = device.wall_us, json["enqueue_us"] = device.enqueue_us, json["cold_us"] = device.cold_us;
    json["strict_over_nominal"] = device.strict_over_nominal, json["launches"] = device.launches;
    json["sm_mhz"] = {device.sm_mhz_low, device.sm_mhz_high};
    json["memory_mhz"] = device.memory_mhz, json["power_w"] = device.power_w_high;
    json["temperature_c"] = device.temperature_c_high, json["throttle_reasons"] = device.throttle_reasons;
  }
  json["phases"] = Json::array();
  for (const sandbox::PhaseTime& phase : time.phases)
    json["phases"].push_back(
        {{"name", phase.name}, {"us", phase.us}, {"dram_mb", phase.dram_mb}, {"bound", phase.bound}});
  return json;
}

Json gate_json(const sandbox::GateResult& gate) {
  return {{"stage", gate.stage},     {"passed", gate.passed}, {"test", gate.test}, {"tensor", gate.tensor},
          {"index", gate.index},     {"got", gate.got},       {"want", gate.want}, {"tolerance", gate.tolerance},
          {"context", gate.context}, {"step", gate.step},     {"seed", gate.seed}, {"detail", gate.detail}};
}

// The same check once more: the seed is that of weights, states, tokens and block schedules.
std::string command_text(const EvalOptions& options) {
  std::string text = "onelaunch eval " + options.task + " " + options.kernel;
  if (!options.variant.empty()) text += " --variant " + options.variant;
  text += " --device " + options.device;
  if (options.target != EvalOptions{}.target) text += " --target " + options.target;
  for (const std::int64_t context : options.contexts) text += " --context " + std::to_string(context);
  if (options.check != EvalOptions{}.check) text += " --check " + options.check;
  if (options.schedules != 1) text += " --schedules " + std::to_string(options.schedules);
  if (options.detect) text += " --detect";
  for (const std::string& define : options.defines) text += " -D " + define;
  return text + " --seed " + std::to_string(options.seed.value_or(0));
}

void print_json(const sandbox::Compiled& compiled, const sandbox::Grade& grade, const EvalOptions& options) {
  Json json;
  json["outcome"] = sandbox::name_of(grade.outcome);
  json["explanation"] = sandbox::explain(grade.outcome);
  json["reproduce"] = command_text(options);
  json["source_sha256"] = compiled.source_sha256;
  json["tunables"] = compiled.tunables;
  json["compile_s"] = compiled.seconds;
  json["registers"] = compiled.resources.registers;
  json["spill_bytes"] = compiled.resources.spill_bytes;
  json["log"] = compiled.log;
  json["gates"] = Json::array();
  for (const auto& gate : grade.gates) json["gates"].push_back(gate_json(gate));
  json["times"] = Json::array();
  for (const auto& time : grade.times) json["times"].push_back(measurement_json(time));
  if (!grade.times.empty()) json["us"] = sandbox::score_us(grade.times);
  if (!grade.quarantine.empty()) json["quarantine"] = grade.quarantine;
  json["gate_s"] = grade.gate_s, json["measure_s"] = grade.measure_s;
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

std::string compile_text(const sandbox::Compiled& compiled) {
  std::string text = "compile   " + format_number("%.2f s", compiled.seconds) + (compiled.cached ? " (cached)" : "") +
                     ", " + std::to_string(compiled.resources.registers) + " registers, " +
                     std::to_string(compiled.resources.spill_bytes) + " spill bytes, " +
                     std::to_string(compiled.resources.static_smem_bytes + compiled.launch.dynamic_smem) +
                     " bytes of shared memory\n";
  if (!compiled.tunables.empty()) text += "tunables  " + format_values(compiled.tunables) + "\n";
  if (!compiled.log.empty()) text += compiled.log + (compiled.log.back() == '\n' ? "" : "\n");
  return text;
}

std::string result_text(const sandbox::Grade& grade, const EvalOptions& options) {
  const bool passed = std::holds_alternative<sandbox::Passed>(grade.outcome);
  if (!passed)
    return "rejected  " + std::string(sandbox::name_of(grade.outcome)) + ": " + sandbox::explain(grade.outcome) +
           "\nreproduce " + command_text(options) + "\ntests     docs/gates.md says what each test means\n";
  std::string text = "passed";
  if (!grade.times.empty())
    text += "    " + format_number("%.2f us a token, ", sandbox::score_us(grade.times)) +
            (grade.times.front().modelled ? "modelled" : "measured") + ", geometric mean over the contexts";
  return text + "\n";
}

Result<sandbox::Grade> grade_kernel(sandbox::Sandbox& sandbox, const sandbox::Compiled& compiled,
                                    const EvalOptions& options, Deadline deadline) {
  if (!std::holds_alternative<sandbox::Passed>(compiled.outcome)) return sandbox::Grade{.outcome = compiled.outcome};
  return sandbox.grade(compiled,
                       {.check = options.check == "quick" ? sandbox::Check::quick : sandbox::Check::full,
                        .contexts = options.contexts,
                        .seed = options.seed,
                        .schedules = options.schedules,
                        .detect = options.detect},
                       deadline);
}

Result<int> evaluate(EvalOptions options) {
  // Known here, so that whoever reads the result can have the same one again.
  if (!options.seed) options.seed = sandbox::fresh_seed();
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
  progress.busy("compiling");
  const auto compiled = (*sandbox)->compile({.source = *source, .tunables = *tunables},
                                            Deadline::after(clock, Seconds(agent::SessionLimits{}.compile_s)));
  if (!compiled) return because(compiled.error(), "compiling");
  if (!options.json) progress.print(compile_text(*compiled));
  progress.busy("checking and timing");
  const Result<sandbox::Grade> grade = grade_kernel(**sandbox, *compiled, options, Deadline::after(clock, *limit));
  progress.done();
  if (!grade) return because(grade.error(), "grading");
  if (options.json)
    print_json(*compiled, *grade, options);
  else
    std::cout << grade_text(*grade) << result_text(*grade, options);
  return std::holds_alternative<sandbox::Passed>(grade->outcome) ? kOk : kRejected;
}

}  // namespace

void add_eval_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Compile, check and time one kernel.");
  add_kernel_options(*command, *options);
  command->add_option("KERNEL", options->kernel, "CUDA C++ source")->required();
  command->add_option("--context", options->contexts, "Only these contexts (cached tokens)")
      ->check(CLI::NonNegativeNumber)
      ->allow_extra_args(false);
  command->add_option("--check", options->check, "quick: first context, fewest steps; all (default)")
      ->check(CLI::IsMember({"quick", "all"}));
  command->add_option("--schedules", options->schedules, "Block schedules to run on the emulator (default 1)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--detect", options->detect,
                    "Look for data races and undefined reads on the emulator too (a full check of a small task does anyway)");
  command->add_option("--limit", options->limit, "Longest time for the check, such as 30s (default 1h)");
  command->add_option("-D", options->defines, "Value of a tunable, NAME=VALUE")->allow_extra_args(false);
  command->footer(
      "Exit status 0 passed, 3 rejected.\n"
      "Example:\n  onelaunch eval rmsnorm_linear tasks/library/rmsnorm_linear/seed.cu --variant tiny --device emu");
  command->callback([options, &exit_code] {
    const Result<int> code = evaluate(*options);
    exit_code = code ? *code : report(code.error());
  });
}

}  // namespace onelaunch::cli
