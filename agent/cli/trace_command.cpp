#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "traces/verify.h"

namespace onelaunch::cli {
namespace {

int verify(const std::string& run) {
  const Result<traces::VerifyReport> report_of_run = traces::verify_trace(run);
  if (!report_of_run) return report(report_of_run.error());
  std::cout << traces::describe(*report_of_run);
  return report_of_run->ok() ? kOk : kRejected;
}

}  // namespace

void add_trace_command(CLI::App& app, int& exit_code) {
  CLI::App* trace = app.add_subcommand("trace", "Work on traces.");
  trace->require_subcommand(1);
  const auto run = std::make_shared<std::string>();
  CLI::App* command = trace->add_subcommand("verify", "Check a trace's hash chain, numbering, fields and blobs.");
  command->add_option("RUN", *run, "Run directory or its events.jsonl")->required();
  command->footer("Exit status 3 when the trace has a defect.\nExample:\n  onelaunch trace verify traces/runs/my-run");
  command->callback([run, &exit_code] { exit_code = verify(*run); });
}

}  // namespace onelaunch::cli
