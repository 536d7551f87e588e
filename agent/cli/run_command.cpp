#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/open_device.h"
#include "agent/cli/run_log.h"
#include "agent/cli/run_setup.h"
#include "agent/cli/signals.h"
#include "agent/external/external_agent.h"
#include "agent/loop/budget.h"
#include "agent/tuner/tuner.h"

namespace onelaunch::cli {
namespace {

Result<std::unique_ptr<agent::Agent>> make_agent(const RunPlan& plan, const Clock& clock,
                                                 const agent::StopRequest& stop, ModelTarget& model, RunLog& log) {
  if (plan.model) {
    std::unique_ptr<agent::ModelAgent> made = make_model_agent(*plan.model, clock, log, plan.talk);
    model.set(made.get());
    return made;
  }
  if (plan.agent == "tuner") return std::make_unique<agent::Tuner>(plan.session.session_seed.value_or(1));
  Result<agent::ExternalAgent> external = agent::ExternalAgent::listen(plan.run, clock, stop);
  if (!external) return because(external.error());
  return std::make_unique<agent::ExternalAgent>(std::move(*external));
}

void announce(RunLog& log, const RunPlan& plan) {
  log.say("task",
          plan.task.name + " (" + (plan.task.variant.empty() ? "full" : plan.task.variant) + "): " + plan.task.title);
  std::string session =
      "agent " + plan.agent + ", device " + plan.device + ", cap " + agent::print_duration(plan.session.wall);
  if (plan.continuation)
    session += ", resumed with " + agent::print_duration(Seconds(plan.continuation->state.active_s)) + " spent and " +
               std::to_string(plan.continuation->state.decisions) + " candidates judged";
  log.say("session", session);
  log.say("run", plan.run.string());
  if (plan.agent == "external") log.say("submit", "onelaunch submit " + plan.run.string() + " kernel.cu");
}

// What signals interrupt.
struct SignalTargets {
  InterruptTarget sandbox;
  ModelTarget model;
};

// Sets a target of signals back when what it points to goes away.
template <class Target>
class TargetScope {
 public:
  explicit TargetScope(Target& target) : target_(target) {}
  ~TargetScope() { target_.set(nullptr); }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;

 private:
  Target& target_;
};

Result<agent::SessionResult> run_session(const RunPlan& plan, const RunOptions& options, const Clock& clock,
                                         const agent::StopRequest& stop, SignalTargets& targets, RunLog& log) {
  log.busy("starting the device");
  Result<std::unique_ptr<sandbox::Sandbox>> sandbox =
      open_device(plan.task, {.device = plan.device, .target = options.target}, clock);
  if (!sandbox) return because(sandbox.error());
  const TargetScope sandbox_scope(targets.sandbox);
  targets.sandbox.set(sandbox->get());
  Result<traces::Writer> writer =
      plan.continuation ? traces::Writer::reopen(plan.run, clock) : traces::Writer::create(plan.run, clock);
  if (!writer) return because(writer.error());
  announce(log, plan);
  log.begin(plan.session.wall, Seconds(writer->active_s()));
  Result<std::unique_ptr<agent::Agent>> agent = make_agent(plan, clock, stop, targets.model, log);
  if (!agent) return because(agent.error());
  const TargetScope model_scope(targets.model);
  agent::Session session(plan.task, plan.seed_source, {**sandbox, clock, **agent, log, stop, *writer}, plan.session,
                         plan.continuation);
  return session.run();
}

int exit_code_of(const agent::SessionResult& result) {
  if (result.reason == agent::StopReason::interrupted) return kInterrupted;
  switch (result.reason) {
    case agent::StopReason::error:
      return kOurError;
    case agent::StopReason::model_refused:
    case agent::StopReason::authentication:
    case agent::StopReason::quota:
    case agent::StopReason::provider_outage:
    case agent::StopReason::context_overflow:
      return result.decisions == 0 ? kOurError : kOk;  // no session, if nothing was tried
    default:
      return kOk;
  }
}

int run(const RunOptions& options) {
  const SystemClock clock;
  agent::StopRequest stop;
  SignalTargets targets;
  const SignalWatcher watcher([&] {
    stop.raise();
    targets.sandbox.interrupt();
    targets.model.stop();
  });
  const Result<RunPlan> plan = plan_run(options, clock);
  if (!plan) return report(plan.error());
  RunLog log(options.json);
  const Result<agent::SessionResult> result = run_session(*plan, options, clock, stop, targets, log);
  log.done();
  if (!result) return report(result.error());
  const std::string run = plan->run.string();
  std::cout << (options.json ? summary_json(*result, run, plan->session.wall)
                             : summary_text(*result, run, plan->session.wall));
  return exit_code_of(*result);
}

void add_model_options(CLI::App& command, ModelChoices& choices) {
  command.add_option("--budget-usd", choices.budget_usd, "What a model may cost, in US dollars, the call at hand included");
  command.add_option("--budget-tokens", choices.budget_tokens, "Tokens that a model may read and write, cached ones too");
  command.add_option("--key-file", choices.key_file,
                     "File with the provider's key, alone or as NAME=VALUE (default: from the environment, "
                     "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or ONELAUNCH_API_KEY)");
  command.add_option("--effort", choices.effort, "How hard a model thinks, as its provider names it: low, medium, high, ...");
  command.add_option("--max-output-tokens", choices.max_output_tokens, "Longest reply of a model (default 32000)");
  command.add_option("--context-window", choices.context_window,
                     "Tokens that the model can hold (default: known for common ones); a conversation is begun anew well before");
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a timed session: propose, compile, check, time, keep or revert.");
  command->add_option("TASK", options->task, "Name of a task or path to a task.json");
  command->add_option("--variant", options->variant, "Variant of the task, such as tiny");
  command->add_option("--agent", options->agent,
                      "tuner (default), external, anthropic:MODEL, openai:MODEL, gemini:MODEL or compat:MODEL@URL");
  command->add_option("--device", options->device, "auto (default: cuda:0 where there is a GPU, else emu), cuda:N or emu");
  command->add_option("--target", options->target, "GPU architecture to compile for (default sm_90a)");
  command->add_option("--wall", options->wall, "Cap on active time, such as 45m (default 3h)");
  command->add_option("--min-gain", options->min_gain, "Least gain worth keeping (default 0.3%)");
  command->add_option("--session-seed", options->session_seed, "Fixes the weights, so that agents meet the same ones");
  command->add_option("--out", options->out, "Run directory (default traces/runs/<utc>-<task>-<agent>)");
  command->add_option("--publish", options->publish, "Where the best kernel goes (default kernels_generated/<task>)");
  command->add_option("--resume", options->resume, "Continue the session in this run directory");
  add_model_options(*command, options->model);
  command->add_flag("--json", options->json, "No running log; the result as JSON");
  command->footer(
      "Ctrl-C ends the session with its result; a second one skips the closing re-grade.\n"
      "Example:\n"
      "  onelaunch run kimi_linear_decode --variant tiny --agent tuner --device emu --wall 2m\n"
      "  onelaunch run kimi_linear_decode --agent anthropic:MODEL --wall 3h --budget-usd 40\n"
      "  onelaunch run rmsnorm_linear --agent compat:MODEL@http://localhost:8000/v1 --wall 30m --budget-tokens 2000000\n"
      "  onelaunch run --resume traces/runs/RUN");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace onelaunch::cli
