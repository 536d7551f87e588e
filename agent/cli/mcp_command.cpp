#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/run_setup.h"
#include "agent/cli/signals.h"
#include "agent/mcp/client_config.h"
#include "agent/mcp/program.h"
#include "agent/mcp/session_child.h"
#include "agent/mcp/session_host.h"

namespace onelaunch::cli {
namespace {

struct McpOptions {
  std::string session, print_config;
  RunOptions run;
};

using Words = std::vector<std::string>;

void add_if(Words& words, const std::string& option, const std::string& value) {
  if (value.empty()) return;
  words.push_back(option);
  words.push_back(value);
}

// The options that `mcp` and `run` share, as they were given; --out apart.
Words shared_words(const RunOptions& run) {
  Words words;
  if (!run.task.empty()) words.push_back(run.task);
  add_if(words, "--variant", run.variant);
  add_if(words, "--device", run.device == "auto" ? "" : run.device);
  add_if(words, "--target", run.target == "sm_90a" ? "" : run.target);
  add_if(words, "--wall", run.wall);
  add_if(words, "--min-gain", run.min_gain);
  if (run.session_seed) add_if(words, "--session-seed", std::to_string(*run.session_seed));
  add_if(words, "--publish", run.publish);
  return words;
}

std::string own_program() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "onelaunch" : program.string();
}

int print_config(const McpOptions& options) {
  Words words = {"mcp"};
  if (options.session.empty()) {
    for (const std::string& word : shared_words(options.run)) words.push_back(word);
    add_if(words, "--out", options.run.out);
    add_if(words, "--resume", options.run.resume);
  } else {
    add_if(words, "--session", std::filesystem::absolute(options.session).string());
  }
  const Result<std::string> config = agent::mcp::client_config(options.print_config, {own_program(), words});
  if (!config) return report(config.error());
  std::cerr << "onelaunch: for " << agent::mcp::where_config_goes(options.print_config) << "\n";
  std::cout << *config;
  return kOk;
}

int serve(const std::filesystem::path& run, const std::function<bool()>& running, const std::function<bool()>& stop) {
  agent::mcp::SessionHost host(run, running);
  const Result<void> served = agent::mcp::serve(STDIN_FILENO, STDOUT_FILENO, host, kHarnessVersion, stop);
  return served ? kOk : report(served.error());
}

// A session that is opened by the first call that needs it: clients start a server just to see what it offers.
class LateSession {
 public:
  explicit LateSession(Words words) : words_(std::move(words)) {}
  // Any thread. Whether there is a session, or will be.
  bool wanted() {
    wanted_ = true;
    return !over_;
  }
  // The main thread, often.
  void look() {
    if (!wanted_ || over_) return;
    if (!child_ && !start()) return;
    over_ = !child_->running();
  }
  int end() {
    over_ = true;
    return child_ ? child_->end() : kOk;
  }

 private:
  bool start() {
    Result<agent::mcp::SessionChild> child = agent::mcp::SessionChild::start(own_program(), words_);
    if (child) child_.emplace(std::move(*child));
    else over_ = report(child.error()) != kOk;
    return child_.has_value();
  }

  const Words words_;
  std::optional<agent::mcp::SessionChild> child_;
  std::atomic<bool> wanted_{false}, over_{false};
};

int serve_new(const McpOptions& options, const std::function<bool()>& stop) {
  RunOptions asked = options.run;
  asked.agent = "external";
  const SystemClock clock;
  const Result<RunPlan> plan = plan_run(asked, clock);  // a wrong option is said here, before anything is started
  if (!plan) return report(plan.error());
  Words words = {"run"};
  for (const std::string& word : shared_words(options.run)) words.push_back(word);
  add_if(words, "--agent", "external");
  add_if(words, asked.resume.empty() ? "--out" : "--resume", plan->run.string());
  LateSession session(std::move(words));
  const int served = serve(
      plan->run, [&] { return session.wanted(); },
      [&] {
        session.look();
        return stop();
      });
  const int ended = session.end();
  if (ended != kOk && ended != kInterrupted) return ended;
  return served;
}

int run_mcp(const McpOptions& options) {
  if (!options.print_config.empty()) return print_config(options);
  std::atomic<bool> stopped{false};
  const SignalWatcher watcher([&] { stopped = true; });
  const auto stop = [&] { return stopped.load(); };
  if (options.session.empty()) return serve_new(options, stop);
  return serve(options.session, [] { return false; }, stop);
}

}  // namespace

void add_mcp_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<McpOptions>();
  RunOptions& run = options->run;
  CLI::App* command = app.add_subcommand("mcp", "Serve a session's tools to a coding agent, over MCP on standard input and output.");
  command->add_option("TASK", run.task, "The first call of a tool opens a session of this task; it ends, with its result, when the input does");
  command->add_option("--session", options->session, "Serve the open session in this run directory instead");
  command->add_option("--print-config", options->print_config, "Print what this client is to be configured with: claude, codex, opencode, gemini");
  command->add_option("--variant", run.variant, "Variant of the task, such as tiny");
  command->add_option("--device", run.device, "auto (default: cuda:0 where there is a GPU, else emu), cuda:N or emu");
  command->add_option("--target", run.target, "GPU architecture to compile for (default sm_90a)");
  command->add_option("--wall", run.wall, "Cap on active time, such as 45m (default 3h)");
  command->add_option("--min-gain", run.min_gain, "Least gain worth keeping (default 0.3%)");
  command->add_option("--session-seed", run.session_seed, "Fixes the weights, so that agents meet the same ones");
  command->add_option("--out", run.out, "Run directory (default traces/runs/<utc>-<task>-external)");
  command->add_option("--publish", run.publish, "Where the best kernel goes (default kernels_generated/<task>)");
  command->add_option("--resume", run.resume, "Continue the session in this run directory");
  command->footer(
      "Standard output carries the protocol only; the session's log is on standard error.\n"
      "Example:\n"
      "  onelaunch mcp --print-config claude rmsnorm_linear --wall 1h > .mcp.json\n"
      "  onelaunch mcp rmsnorm_linear --variant tiny --device emu --wall 10m --out my-run\n"
      "  onelaunch mcp --session my-run");
  command->callback([options, &exit_code] { exit_code = run_mcp(*options); });
}

}  // namespace onelaunch::cli
