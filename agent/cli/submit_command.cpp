#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/report_text.h"
#include "agent/cli/terminal.h"
#include "agent/external/session_client.h"
#include "agent/external/submission.h"
#include "agent/loop/limits.h"
#include "base/files.h"

namespace onelaunch::cli {
namespace {

struct SubmitOptions {
  std::string run, kernel, note;
  std::optional<double> predict_us;
  std::vector<std::string> defines;
  bool json = false;
};

int no_session(const SubmitOptions& options, const Error& error) {
  std::cerr << "onelaunch: no session is open in " << options.run << " (" << error.message << ")\n"
            << "Start one:    onelaunch run TASK --agent external --out DIR\n"
            << "Continue one: onelaunch run --agent external --resume " << options.run << "\n";
  return kOurError;
}

int exit_code_of(agent::Verdict verdict) {
  switch (verdict) {
    case agent::Verdict::keep:
      return kOk;
    case agent::Verdict::revert:
    case agent::Verdict::quarantine:
      return kReverted;
    case agent::Verdict::reject:
      return kRejected;
    case agent::Verdict::unjudged:
      return kOurError;
  }
  return kOurError;
}

int submit(const SubmitOptions& options) {
  const Result<std::string> source = read_file(options.kernel, agent::SessionLimits{}.source_bytes);
  if (!source) return report(source.error());
  const Result<sandbox::TunableValues> tunables = parse_defines(options.defines);
  if (!tunables) return report(tunables.error());
  ProgressLine progress;
  progress.busy("waiting for the session's verdict");
  const Result<agent::Report> answer = agent::submit(options.run, {.source = *source,
                                                                   .tunables = *tunables,
                                                                   .parent = "",
                                                                   .note = options.note,
                                                                   .prediction_us = options.predict_us});
  progress.done();
  if (!answer && answer.error().kind == Error::Kind::unavailable) return no_session(options, answer.error());
  if (!answer) return report(answer.error());
  std::cout << (options.json ? agent::print_report(*answer) + "\n" : report_text(*answer));
  return exit_code_of(answer->verdict);
}

}  // namespace

void add_submit_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = app.add_subcommand("submit", "Send a kernel to an open session and wait for its report.");
  command->add_option("DIR", options->run, "Run directory of the session")->required();
  command->add_option("KERNEL", options->kernel, "CUDA C++ source")->required();
  command->add_option("--note", options->note, "What this candidate tries");
  command->add_option("--predict", options->predict_us, "The time you expect, us per token");
  command->add_option("-D", options->defines, "Value of a tunable, NAME=VALUE")->allow_extra_args(false);
  command->add_flag("--json", options->json, "The report as JSON");
  command->footer(
      "Exit status 0 kept, 4 reverted, 3 rejected, 1 no session.\n"
      "Example:\n  onelaunch submit my-run kernel.cu --note 'split-K in the down projection' --predict 85");
  command->callback([options, &exit_code] { exit_code = submit(*options); });
}

}  // namespace onelaunch::cli
