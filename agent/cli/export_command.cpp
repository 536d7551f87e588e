#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/open_device.h"
#include "agent/cli/report_text.h"
#include "agent/cli/terminal.h"
#include "agent/export/formats.h"
#include "agent/loop/limits.h"
#include "base/files.h"

namespace onelaunch::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string path, format, out, task, variant, target;
  std::vector<std::string> defines;
  bool force = false;
};

bool is_archive(const std::string& out) { return out.ends_with(".tar.gz") || out.ends_with(".tgz"); }

std::string default_out(const ExportOptions& options, const exporting::Subject& subject) {
  if (options.format == "torch") return "solution.py";
  return subject.task.name + "-" + options.format + (options.format == "bundle" ? ".tar.gz" : "");
}

Result<void> check_free(const std::string& out, bool force) {
  std::error_code ignored;
  if (force || !fs::exists(out, ignored)) return {};
  if (fs::is_directory(out, ignored) && fs::is_empty(out, ignored)) return {};
  return invalid(out + " is already there: choose another --out, or say --force");
}

Result<void> write_files(const exporting::Files& files, const std::string& out) {
  if (!is_archive(out)) return exporting::write_folder(files, out);
  const std::string name = fs::path(out).filename().string();
  const Result<std::string> packed = exporting::tar_gz(files, name.substr(0, name.find(".t")));
  if (!packed) return because(packed.error());
  return replace_file(out, *packed);
}

// Compiles for the target of the export; no device is opened for that but the emulated one, which every machine has.
Result<exporting::BuiltKernel> build_kernel(const exporting::Subject& subject) {
  const SystemClock clock;
  ProgressLine progress;
  progress.busy("compiling");
  const auto sandbox = open_device(subject.task, {.device = "emu", .target = subject.target}, clock);
  if (!sandbox) return because(sandbox.error());
  return exporting::build(subject, **sandbox, Deadline::after(clock, Seconds(agent::SessionLimits{}.compile_s)));
}

Result<void> write_export(const ExportOptions& options, const exporting::Subject& subject, const std::string& out) {
  if (options.format == "source") {
    const Result<exporting::Files> source = exporting::source_files(subject);
    return source ? write_files(*source, out) : because(source.error());
  }
  const Result<exporting::BuiltKernel> kernel = build_kernel(subject);
  if (!kernel) return because(kernel.error());
  if (options.format == "cubin") return write_files(exporting::cubin_files(subject, *kernel), out);
  if (options.format == "torch") {
    const Result<std::string> solution = exporting::torch_solution(subject, *kernel);
    return solution ? replace_file(out, *solution) : because(solution.error());
  }
  const Result<exporting::Files> files = exporting::bundle_files(subject, *kernel);
  return files ? write_files(*files, out) : because(files.error());
}

Result<void> export_kernel(const ExportOptions& options) {
  const Result<sandbox::TunableValues> tunables = parse_defines(options.defines);
  if (!tunables) return because(tunables.error());
  const Result<exporting::Subject> subject = exporting::read_subject({.path = options.path,
                                                                      .task = options.task,
                                                                      .variant = options.variant,
                                                                      .tunables = *tunables,
                                                                      .target = options.target});
  if (!subject) return because(subject.error());
  for (const std::string& remark : subject->remarks) std::cerr << "onelaunch: " << remark << "\n";
  const std::string out = options.out.empty() ? default_out(options, *subject) : options.out;
  const Result<void> done =
      check_free(out, options.force).and_then([&] { return write_export(options, *subject, out); });
  if (!done) return because(done.error());
  std::cout << "wrote " << out << "\n";
  return {};
}

}  // namespace

void add_export_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Take a kernel out of the harness. Needs no GPU.");
  command->add_option("DIR", options->path, "Run directory, its best/, a published kernel's folder, or a plain kernel.cu")->required();
  command->add_option("--format", options->format, "source, cubin (with a C launcher), torch (one solution.py) or bundle (all, with the record)")
      ->required()
      ->check(CLI::IsMember({"source", "cubin", "torch", "bundle"}));
  command->add_option("--out", options->out, "Folder or file to write; a bundle whose name ends in .tar.gz is packed");
  command->add_option("--task", options->task, "Task of a plain kernel.cu");
  command->add_option("--variant", options->variant, "Variant of the task, such as tiny");
  command->add_option("--target", options->target, "GPU architecture to compile for (default: as recorded, else sm_90a)");
  command->add_option("-D", options->defines, "Value of a tunable, NAME=VALUE")->allow_extra_args(false);
  command->add_flag("--force", options->force, "Write over what is there");
  command->footer(
      "Example:\n  onelaunch export traces/runs/my-run --format source --out my-kernel\n"
      "  onelaunch export kernel.cu --task kimi_linear_decode --format torch --out solution.py");
  command->callback([options, &exit_code] {
    const Result<void> done = export_kernel(*options);
    exit_code = done ? kOk : report(done.error());
  });
}

}  // namespace onelaunch::cli
