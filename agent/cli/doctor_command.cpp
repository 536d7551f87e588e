#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/open_device.h"
#include "agent/cli/terminal.h"
#include "base/files.h"
#include "tasks/catalog.h"

namespace onelaunch::cli {
namespace {

enum class Health { good, limited, broken };

struct Finding {
  std::string what;
  Health health = Health::good;
  std::string found, means;
};

const char* word(Health health) {
  switch (health) {
    case Health::good:
      return "ok";
    case Health::limited:
      return "limited";
    case Health::broken:
      return "BROKEN";
  }
  return "BROKEN";
}

// Compiles and grades the smallest seed: toolkit, NVRTC, worker and emulator in one.
Finding find_compiler_and_emulator() {
  Finding finding{.what = "compile and emulate", .health = Health::broken};
  finding.means = "sessions need the CUDA Toolkit (NVRTC and its headers) and onelaunch-worker beside onelaunch";
  const SystemClock clock;
  const Result<tasks::Task> task = tasks::load_task("rmsnorm_linear", "tiny");
  if (!task) return finding.found = task.error().message, finding;
  const Result<std::string> seed = tasks::seed_kernel(*task);
  if (!seed) return finding.found = seed.error().message, finding;
  const auto sandbox = open_device(*task, {.device = "emu"}, clock);
  if (!sandbox) return finding.found = sandbox.error().message, finding;
  const Deadline deadline = Deadline::after(clock, Seconds(60));
  const auto compiled = (*sandbox)->compile({.source = *seed, .tunables = {}}, deadline);
  if (!compiled) return finding.found = compiled.error().message, finding;
  if (!std::holds_alternative<sandbox::Passed>(compiled->outcome))
    return finding.found = sandbox::explain(compiled->outcome), finding;
  const auto grade = (*sandbox)->grade(*compiled, {.check = sandbox::Check::quick}, deadline);
  if (!grade) return finding.found = grade.error().message, finding;
  const sandbox::DeviceInfo& device = (*sandbox)->device();
  finding.found = "NVRTC " + device.nvrtc_version + " for " + device.target + ", a seed kernel compiled in " +
                  format_number("%.2f s", compiled->seconds) + " and graded " + sandbox::name_of(grade->outcome) +
                  " on " + device.name + "; compiler confined by: " + device.containment;
  const bool passed = std::holds_alternative<sandbox::Passed>(grade->outcome);
  finding.health = !passed ? Health::broken : device.containment == "weak" ? Health::limited : Health::good;
  finding.means = !passed ? "the seed kernel of rmsnorm_linear must pass: this is a bug"
                  : device.containment == "weak"
                      ? "sessions run, but unranked: the compiler could read this machine's files"
                      : "sessions run on this machine";
  return finding;
}

Finding find_gpu_driver() {
  const Result<std::string> version = read_file("/proc/driver/nvidia/version", 1 << 16);
  if (!version)
    return {.what = "GPU driver",
            .health = Health::limited,
            .found = "none",
            .means = "no GPU is needed: times come from the emulator and are labelled modelled"};
  return {.what = "GPU driver", .health = Health::good, .found = first_line(*version), .means = "kernels can run on a GPU"};
}

// Checks and times the smallest seed: driver, worker, reference, CUPTI and NVML in one.
Finding find_gpu() {
  Finding finding{.what = "GPU", .health = Health::broken};
  finding.means = "sessions on --device cuda:0 need this; --device emu does not";
  const SystemClock clock;
  const Result<tasks::Task> task = tasks::load_task("rmsnorm_linear", "tiny");
  if (!task) return finding.found = task.error().message, finding;
  const Result<std::string> seed = tasks::seed_kernel(*task);
  if (!seed) return finding.found = seed.error().message, finding;
  const auto sandbox = open_device(*task, {.device = "cuda:0"}, clock);
  if (!sandbox) return finding.found = sandbox.error().message, finding;
  const Deadline deadline = Deadline::after(clock, Seconds(60));
  const auto compiled = (*sandbox)->compile({.source = *seed, .tunables = {}}, deadline);
  if (!compiled) return finding.found = compiled.error().message, finding;
  const auto grade = (*sandbox)->grade(*compiled, {.check = sandbox::Check::quick}, deadline);
  if (!grade) return finding.found = grade.error().message, finding;
  const sandbox::DeviceInfo& device = (*sandbox)->device();
  finding.found = device.name + " " + device.uuid + ", driver " + device.driver_version + ", " + device.target +
                  ": a seed kernel graded " + sandbox::name_of(grade->outcome);
  for (const std::string& warning : device.warnings) finding.found += "; " + warning;
  if (!std::holds_alternative<sandbox::Passed>(grade->outcome)) return finding.means = sandbox::explain(grade->outcome), finding;
  finding.health = device.warnings.empty() ? Health::good : Health::limited;
  finding.means = "sessions can measure on it";
  return finding;
}

Finding find_landlock() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version > 0)
    return {.what = "Landlock",
            .found = "version " + std::to_string(version),
            .means = "candidates compile in a confined child"};
  return {.what = "Landlock",
          .health = Health::limited,
          .found = "not available",
          .means = "a mount namespace confines the compiler where that is allowed"};
}

double available_gb() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name, unit; meminfo >> name;) {
    double kilobytes = 0;
    meminfo >> kilobytes;
    std::getline(meminfo, unit);
    if (name == "MemAvailable:") return kilobytes / 1048576;
  }
  return 0;
}

std::vector<Finding> find_machine() {
  const unsigned cores = std::thread::hardware_concurrency();
  const double gb = available_gb();
  const bool enough = gb >= 6;
  return {
      {.what = "cores",
       .health = cores > 1 ? Health::good : Health::limited,
       .found = std::to_string(cores),
       .means = cores > 1 ? "one candidate compiles while another is graded" : "compiling and grading take turns"},
      {.what = "memory",
       .health = enough ? Health::good : Health::limited,
       .found = format_number("%.1f GB available", gb),
       .means = enough ? "enough for full-size tasks" : "full-size kimi_linear_decode wants 6 GB; tiny variants run"}};
}

Finding find_tasks() {
  const auto known = tasks::list_tasks(tasks::library_folder());
  if (!known || known->empty())
    return {.what = "tasks",
            .health = Health::broken,
            .found = known ? "none" : known.error().message,
            .means = "set ONELAUNCH_TASKS to the folder tasks/library"};
  std::string names;
  for (const auto& task : *known) names += (names.empty() ? "" : ", ") + task.name;
  return {.what = "tasks", .found = names, .means = "in " + tasks::library_folder().string()};
}

std::vector<Finding> examine() {
  std::vector<Finding> findings = {find_compiler_and_emulator(), find_gpu_driver(), find_landlock()};
  if (findings[1].health == Health::good) findings.push_back(find_gpu());
  for (const Finding& finding : find_machine()) findings.push_back(finding);
  findings.push_back(find_tasks());
  return findings;
}

int doctor(bool json) {
  ProgressLine progress;
  progress.busy("examining this machine");
  const std::vector<Finding> findings = examine();
  progress.done();
  bool broken = false;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    broken = broken || finding.health == Health::broken;
    if (json)
      list.push_back({{"what", finding.what},
                      {"health", word(finding.health)},
                      {"found", finding.found},
                      {"means", finding.means}});
    else
      std::cout << word(finding.health) << std::string(9 - std::string(word(finding.health)).size(), ' ')
                << finding.what << ": " << finding.found << "\n         " << finding.means << "\n";
  }
  if (json)
    std::cout << list.dump(2) << "\n";
  else
    std::cout << (broken ? "\nNot ready: see BROKEN above.\n"
                         : "\nReady. Try: onelaunch run rmsnorm_linear --variant tiny --wall 30s\n");
  return broken ? kOurError : kOk;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Say what this machine can do and what is missing.");
  command->add_flag("--json", *json, "As JSON");
  command->footer("Exit status 1 when sessions cannot run here.\nExample:\n  onelaunch doctor");
  command->callback([json, &exit_code] { exit_code = doctor(*json); });
}

}  // namespace onelaunch::cli
