#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "traces/html/site.h"
#include "traces/view.h"

namespace onelaunch::cli {
namespace {

struct ReplayOptions {
  std::string run;
  bool view = false, diff = false;
  std::string only, html;
};

int replay(const ReplayOptions& options) {
  if (!options.html.empty()) {
    const Result<void> written = traces::write_session_site(options.run, options.html);
    if (!written) return report(written.error());
    std::cout << "wrote " << options.html << "/index.html\n";
    if (!options.view) return kOk;
  }
  const traces::ViewOptions view{.color = ::isatty(STDOUT_FILENO) == 1, .diff = options.diff, .only = options.only};
  const Result<void> printed = traces::print_timeline(options.run, view, std::cout);
  return printed ? kOk : report(printed.error());
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Show what a recorded session did. Needs no GPU.");
  command->add_option("RUN", options->run, "Run directory or its events.jsonl")->required();
  command->add_flag("--view", options->view, "Print the timeline (what replay does when nothing else is asked)");
  command->add_flag("--diff", options->diff, "With the source diff of each kept candidate to its parent");
  command->add_option("--only", options->only, "Only candidates with this verdict: keep, revert, reject, quarantine")
      ->check(CLI::IsMember({"keep", "revert", "reject", "quarantine"}));
  command->add_option("--html", options->html, "Write a static page of the session into this folder");
  command->footer(
      "Example:\n  onelaunch replay traces/runs/20261201T050906Z-kimi_linear_decode-tuner --view --only keep");
  command->callback([options, &exit_code] { exit_code = replay(*options); });
}

}  // namespace onelaunch::cli
