#include "sandbox/host/torch_baseline.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "sandbox/host/child_program.h"
#include "tasks/catalog.h"
#include "tasks/dump.h"

namespace onelaunch::sandbox {
namespace {

constexpr int kSteps = 2;
constexpr std::size_t kOutputShown = 2000, kResultBytesMax = 8 << 20, kPrintedBytesMax = 64 << 20;

std::string tail_of(const std::string& printed) {
  return printed.size() > kOutputShown ? "..." + printed.substr(printed.size() - kOutputShown) : printed;
}

struct Spread {
  double median = 0, low = 0, high = 0;
  std::vector<double> raw;
};
Spread spread_of(const nlohmann::json& json) {
  return {json.at("median"), json.at("low"), json.at("high"), json.at("raw").get<std::vector<double>>()};
}

GateResult gate_of(const tasks::Task& task, const std::string& name, const nlohmann::json& error, std::int64_t context) {
  const std::size_t dot = name.find('.');
  const bool of_step = dot != std::string::npos && name.find_first_not_of("0123456789") == dot;
  GateResult gate;
  gate.stage = "correctness", gate.test = "rel_l2", gate.context = context;
  gate.tensor = of_step ? name.substr(dot + 1) : name;
  gate.step = of_step ? std::atoi(name.c_str()) : kSteps - 1;
  const tasks::Tensor* tensor = task.find(gate.tensor);
  const bool output = tensor != nullptr && tensor->role == tasks::Role::output;
  const auto own = task.tensor_tolerance.find(gate.tensor);
  gate.tolerance = own != task.tensor_tolerance.end() ? own->second.rel_l2
                   : output                           ? task.output_tolerance.rel_l2
                                                      : task.state_tolerance.rel_l2;
  gate.got = error.at("rel_l2");
  gate.passed = gate.got <= gate.tolerance;
  return gate;
}

void add_result(const tasks::Task& task, const nlohmann::json& mode, TorchResult& of) {
  if (mode.contains("error")) {
    of.problem = mode.at("error");
    return;
  }
  BaselineResult& result = of.baseline;
  const Spread wall = spread_of(mode.at("wall_us"));
  const Spread device = mode.contains("device_us") ? spread_of(mode.at("device_us")) : wall;
  Measurement time;
  time.modelled = false;
  time.context = mode.at("context");
  time.us_median = device.median, time.us_low = device.low, time.us_high = device.high;
  time.raw_us = device.raw;
  time.n = static_cast<int>(device.raw.size());
  time.device = DeviceTimes{.wall_us = wall.median, .launches = mode.value("launches", 0.0)};
  result.times.push_back(std::move(time));
  result.launches = mode.value("launches", 0);
  for (const auto& [name, error] : mode.at("errors").items()) result.gates.push_back(gate_of(task, name, error, mode.at("context")));
}

Result<void> run_context(const tasks::Task& task, const TorchOptions& options, std::int64_t context, const std::filesystem::path& script,
                         const Clock& clock, Deadline deadline, const Interrupts::Scope& interrupts,
                         std::vector<TorchResult>& results) {
  if (find_program(options.python, {""}).empty())
    return unavailable("cannot run " + options.python + ": install Python 3 and PyTorch for the torch baselines");
  const PassingFolder folder(options.scratch.empty() ? std::filesystem::temp_directory_path() : options.scratch);
  if (folder.path().empty()) return unavailable(std::string("cannot make a folder for the torch baseline: ") + std::strerror(errno));
  const auto dumped = tasks::dump_task(task, {.seed = options.seed, .context = context, .steps = kSteps, .out = folder.path()});
  if (!dumped) return because(dumped.error(), "dumping the task for torch");
  std::string modes;
  for (const std::string& mode : options.modes) modes += (modes.empty() ? "" : ",") + mode;
  const std::filesystem::path out = folder.path() / "result.json";
  const auto ended = run_program({options.python, script, folder.path(), "--modes", modes, "--device", options.device, "--out", out},
                                 folder, kPrintedBytesMax, clock, deadline, interrupts);
  if (!ended) return because(ended.error(), "the torch baseline");
  if (ended->status != 0)
    return unavailable("the torch baseline ended with status " + std::to_string(ended->status) + ": " + tail_of(ended->output));
  const auto text = read_file(out, kResultBytesMax);
  if (!text) return because(text.error(), "the torch baseline's result");
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    for (std::size_t i = 0; i < results.size(); ++i) add_result(task, json.at("modes").at(i), results[i]);
  } catch (const nlohmann::json::exception& error) {
    return fail(Error::Kind::internal, std::string("the torch baseline's result: ") + error.what());
  }
  return {};
}

}  // namespace

Result<std::vector<TorchResult>> torch_baselines(const tasks::Task& task, const TorchOptions& options, const Clock& clock,
                                                 Deadline deadline, const Interrupts::Scope& interrupts) {
  const std::filesystem::path script = options.script.empty() ? tasks::library_folder().parent_path() / "torch_baseline.py" : options.script;
  if (!std::filesystem::exists(script)) return unavailable(script.string() + " is missing");
  std::vector<TorchResult> results(options.modes.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i].baseline.name = options.modes[i];
  for (const tasks::SweepPoint& point : task.sweep)
    if (auto done = run_context(task, options, point.context, script, clock, deadline, interrupts, results); !done)
      return because(done.error());
  return results;
}

}  // namespace onelaunch::sandbox
