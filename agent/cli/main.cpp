// onelaunch: generates and tunes one CUDA kernel that runs the whole forward pass of a model block.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"

int main(int argc, char** argv) {
  using namespace onelaunch::cli;
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away must not end a session
  CLI::App app("onelaunch: an autonomous session that generates and tunes a megakernel.", "onelaunch");
  app.set_version_flag("--version", std::string("onelaunch ") + kHarnessVersion);
  app.require_subcommand(1);
  app.footer(
      "Start here:\n"
      "  onelaunch doctor\n"
      "  onelaunch run rmsnorm_linear --variant tiny --agent tuner --device emu --wall 30s\n"
      "Exit status: 0 ok or kept, 1 our error or no session, 2 usage, 3 candidate rejected, 4 reverted, 130 "
      "interrupted.");
  int exit_code = kOk;
  add_doctor_command(app, exit_code);
  add_tasks_command(app, exit_code);
  add_run_command(app, exit_code);
  add_eval_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_profile_command(app, exit_code);
  add_microbench_command(app, exit_code);
  add_mcp_command(app, exit_code);
  add_submit_command(app, exit_code);
  add_replay_command(app, exit_code);
  add_trace_command(app, exit_code);
  add_leaderboard_command(app, exit_code);
  add_export_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const std::exception& error) {
    std::cerr << "onelaunch: " << error.what() << "\n";
    return kOurError;
  }
  return exit_code;
}
