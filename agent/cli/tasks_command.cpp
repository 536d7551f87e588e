#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "tasks/dump.h"
#include "agent/cli/terminal.h"
#include "base/files.h"
#include "tasks/catalog.h"
#include "tasks/floor.h"
#include "tasks/header.h"

namespace onelaunch::cli {
namespace {

using Json = nlohmann::ordered_json;

int list(bool json) {
  const auto known = tasks::list_tasks(tasks::library_folder());
  if (!known) return report(known.error());
  Json all = Json::array();
  for (const tasks::CatalogEntry& task : *known) {
    std::string variants;
    for (const std::string& variant : task.variants) variants += (variants.empty() ? "" : ", ") + variant;
    all.push_back({{"name", task.name}, {"title", task.title}, {"variants", task.variants}});
    if (!json) std::cout << task.name << " (" << variants << ")\n  " << task.title << "\n";
  }
  if (json) std::cout << all.dump(2) << "\n";
  return kOk;
}

std::string shape_text(const tasks::Tensor& tensor) {
  std::string text;
  for (const std::int64_t extent : tensor.shape)
    text +=
        (text.empty() ? "" : ", ") + (extent == tasks::kCapacity ? std::string("capacity") : std::to_string(extent));
  return "[" + text + "]";
}

const char* role_name(tasks::Role role) {
  switch (role) {
    case tasks::Role::weight:
      return "weight";
    case tasks::Role::state:
      return "state";
    case tasks::Role::input:
      return "input";
    case tasks::Role::output:
      return "output";
  }
  return "weight";
}

void print_probes(const tasks::Task& task) {
  for (const auto& [name, value] : task.values) {
    std::cout << name << " " << tasks::name_of(value.dtype) << " [";
    for (std::size_t i = 0; i < value.shape.size(); ++i) std::cout << (i ? ", " : "") << value.shape[i];
    std::cout << "]\n";
  }
}

void print_task(const tasks::Task& task) {
  std::cout << task.name << " (" << (task.variant.empty() ? "full" : task.variant) << "): " << task.title << "\n\n"
            << task.prose << "\n";
  if (!task.rules.empty()) std::cout << "\nRules\n" << task.rules << "\n";
  std::cout << "\nDims\n ";
  for (const auto& [name, value] : task.dims) std::cout << " " << name << "=" << value;
  std::cout << "\n\nTensors\n";
  for (const tasks::Tensor& tensor : task.tensors)
    std::cout << "  " << role_name(tensor.role) << " " << tensor.name << " " << tasks::name_of(tensor.dtype) << " "
              << shape_text(tensor) << "\n";
  std::cout << "\nSweep, and the least that one token moves and computes\n";
  for (const tasks::SweepPoint& point : task.sweep) {
    const tasks::Cost cost = tasks::token_cost(task, point.context);
    std::cout << "  context " << point.context << ", " << point.steps
              << " steps: " << format_number("%.2f MB, ", cost.bytes() / 1e6)
              << format_number("%.1f MFLOP", cost.flops / 1e6) << "\n";
  }
}

Json task_json(const tasks::Task& task) {
  Json json = {{"name", task.name},   {"variant", task.variant}, {"title", task.title}, {"prose", task.prose},
               {"rules", task.rules}, {"sha256", task.sha256},   {"dims", task.dims}};
  json["tensors"] = Json::array();
  for (const tasks::Tensor& tensor : task.tensors)
    json["tensors"].push_back({{"name", tensor.name},
                               {"role", role_name(tensor.role)},
                               {"dtype", tasks::name_of(tensor.dtype)},
                               {"shape", tensor.shape}});
  json["sweep"] = Json::array();
  for (const tasks::SweepPoint& point : task.sweep) {
    const tasks::Cost cost = tasks::token_cost(task, point.context);
    json["sweep"].push_back(
        {{"context", point.context}, {"steps", point.steps}, {"bytes", cost.bytes()}, {"flops", cost.flops}});
  }
  return json;
}

struct ShowOptions {
  std::string task, variant;
  bool header = false, probes = false, json = false;
};

int show(const ShowOptions& options) {
  const Result<tasks::Task> task = tasks::load_task(options.task, options.variant);
  if (!task) return report(task.error());
  if (options.header)
    std::cout << tasks::candidate_header(*task);
  else if (options.probes)
    print_probes(*task);
  else if (options.json)
    std::cout << task_json(*task).dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  else
    print_task(*task);
  return kOk;
}

int dump(const std::string& name, const std::string& variant, const tasks::DumpOptions& options) {
  const Result<tasks::Task> task = tasks::load_task(name, variant);
  if (!task) return report(task.error());
  ProgressLine progress;
  progress.busy("drawing tensors and running the oracle");
  const Result<std::string> written = tasks::dump_task(*task, options);
  progress.done();
  if (!written) return report(written.error());
  std::cout << *written;
  return kOk;
}

constexpr std::size_t kTaskBytesMax = std::size_t{4} << 20;

int check(const std::string& file, const std::string& variant) {
  const Result<std::string> text = read_file(file, kTaskBytesMax);
  if (!text) return report(text.error());
  const Result<tasks::Task> task = tasks::parse_task(*text, file, variant);
  if (!task) return report(task.error());
  std::cout << file << ": a valid task, " << task->tensors.size() << " tensors, " << task->ops.size() << " ops\n";
  return kOk;
}

void add_list(CLI::App& tasks_app, int& exit_code) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = tasks_app.add_subcommand("list", "The tasks of the library and their variants.");
  command->add_flag("--json", *json, "As JSON");
  command->footer("Example:\n  onelaunch tasks list");
  command->callback([json, &exit_code] { exit_code = list(*json); });
}

void add_show(CLI::App& tasks_app, int& exit_code) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App* command = tasks_app.add_subcommand("show", "What a task computes, its tensors and its cost.");
  command->add_option("NAME", options->task, "Name of a task or path to a task.json")->required();
  command->add_option("--variant", options->variant, "Variant of the task, such as tiny");
  command->add_flag("--header", options->header, "The <onelaunch.cuh> that its kernels include");
  command->add_flag("--probes", options->probes, "The named intermediate results");
  command->add_flag("--json", options->json, "As JSON");
  command->footer("Example:\n  onelaunch tasks show kimi_linear_decode --header");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

void add_dump(CLI::App& tasks_app, int& exit_code) {
  struct Options {
    std::string task, variant;
    tasks::DumpOptions dump;
    std::string out;
    bool strict = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = tasks_app.add_subcommand("dump", "All tensors and the oracle's results as safetensors.");
  command->add_option("NAME", options->task, "Name of a task or path to a task.json")->required();
  command->add_option("--variant", options->variant, "Variant of the task, such as tiny");
  command->add_option("--seed", options->dump.seed, "Of weights, states and tokens (default 1)");
  command->add_option("--context", options->dump.context, "Cached tokens (default: the sweep's first)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--steps", options->dump.steps, "Tokens (default 1)")->check(CLI::Range(1, 4096));
  command->add_flag("--strict", options->strict, "The strict input set instead of the nominal one");
  command->add_option("--out", options->out, "Folder for the files")->required();
  command->footer("Example:\n  onelaunch tasks dump rmsnorm_linear --variant tiny --seed 7 --out my-dump");
  command->callback([options, &exit_code] {
    options->dump.out = options->out;
    options->dump.set = options->strict ? tasks::InputSet::strict : tasks::InputSet::nominal;
    exit_code = dump(options->task, options->variant, options->dump);
  });
}

void add_check(CLI::App& tasks_app, int& exit_code) {
  const auto file = std::make_shared<std::string>(), variant = std::make_shared<std::string>();
  CLI::App* command =
      tasks_app.add_subcommand("check", "Whether a task.json is valid; if not, its line and the rule it breaks.");
  command->add_option("FILE", *file, "A task.json")->required();
  command->add_option("--variant", *variant, "Variant of the task");
  command->footer("Example:\n  onelaunch tasks check tasks/library/rmsnorm_linear/task.json");
  command->callback([file, variant, &exit_code] { exit_code = check(*file, *variant); });
}

}  // namespace

void add_tasks_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("tasks", "List, show, dump and check tasks.");
  command->require_subcommand(1);
  add_list(*command, exit_code);
  add_show(*command, exit_code);
  add_dump(*command, exit_code);
  add_check(*command, exit_code);
}

}  // namespace onelaunch::cli
