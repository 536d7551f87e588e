#include "agent/cli/run_setup.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "agent/cli/commands.h"
#include "agent/cli/open_device.h"
#include "agent/loop/budget.h"
#include "agent/loop/history.h"
#include "tasks/catalog.h"
#include "traces/reader.h"

namespace onelaunch::cli {
namespace {

constexpr const char* kWall = "3h";
constexpr const char* kMinGain = "0.3%";
constexpr const char* kModelForms = "anthropic:MODEL, openai:MODEL, gemini:MODEL, compat:MODEL@URL";

std::string variant_name(const std::string& variant) { return variant.empty() ? "full" : variant; }

// "20261201T050906Z-kimi_linear_decode-tuner"
std::filesystem::path default_run(const RunPlan& plan, const Clock& clock) {
  std::string stamp = clock.utc_now();
  stamp = stamp.substr(0, stamp.find('.'));
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  std::string agent = plan.agent.substr(0, plan.agent.find('@'));
  std::ranges::replace_if(
      agent, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_'; }, '-');
  return std::filesystem::path("traces/runs") / (stamp + "Z-" + plan.task.name + "-" + agent);
}

Result<void> check_agent(const std::string& agent) {
  if (agent == "tuner" || agent == "external" || names_model(agent)) return {};
  return invalid("unknown agent `" + agent + "`; there are: tuner, external, " + kModelForms);
}

Result<agent::Continuation> read_past(const std::filesystem::path& run, std::vector<traces::Record>& talk) {
  agent::Continuation past;
  agent::PastSpending spending;
  const auto read = traces::read_trace(run, [&](const traces::Record& record) {
    past.state.apply(record);
    spending.add(record);
    if (concerns_model(record.event)) talk.push_back(record);
    return true;
  });
  if (!read) return because(read.error(), "reading the session to resume");
  if (!past.state.start) return invalid(run.string() + " holds no session that could be resumed");
  past.events = read->events;
  past.torn_line = read->torn_last_line;
  past.attribution_s = spending.seconds();
  return past;
}

// What the resumed session is fixed to, against what was asked for.
Result<void> check_same(const RunOptions& options, const traces::SessionStart& start) {
  const auto differs = [&](const std::string& what, const std::string& asked, const std::string& recorded) {
    return invalid(options.resume + " is a session of " + what + " " + recorded + ", not of " + asked +
                   "; resume it without naming another, or start a new one with --out");
  };
  if (!options.task.empty() && options.task != start.task) return differs("task", options.task, start.task);
  if (!options.variant.empty() && variant_name(options.variant) != start.variant)
    return differs("variant", options.variant, start.variant);
  if (!options.out.empty())
    return invalid("--out and --resume do not go together: a resumed session stays where it is");
  return {};
}

// Takes from the trace what the options leave open.
Result<RunOptions> resumed_options(RunOptions options, const traces::SessionStart& start) {
  if (const Result<void> same = check_same(options, start); !same) return because(same.error());
  options.task = start.task;
  options.variant = start.variant;
  if (options.agent.empty()) options.agent = start.agent;
  if (options.wall.empty()) options.wall = std::to_string(start.wall_s);
  if (options.min_gain.empty()) options.min_gain = std::to_string(start.min_gain);
  if (!options.session_seed) options.session_seed = start.session_seed;
  if (!options.model.budget_usd) options.model.budget_usd = start.budget_usd;
  if (!options.model.budget_tokens) options.model.budget_tokens = start.budget_tokens;
  return options;
}

Result<void> set_limits(const RunOptions& options, agent::SessionOptions& session) {
  const Result<Seconds> wall = agent::parse_wall(options.wall.empty() ? kWall : options.wall);
  if (!wall) return because(wall.error(), "--wall");
  const Result<double> gain = agent::parse_gain(options.min_gain.empty() ? kMinGain : options.min_gain);
  if (!gain) return because(gain.error(), "--min-gain");
  session.wall = *wall;
  session.min_gain = *gain;
  session.session_seed = options.session_seed;
  session.harness_version = kHarnessVersion;
  return {};
}

Result<void> set_model(const RunOptions& options, RunPlan& plan) {
  const ModelChoices& choices = options.model;
  if (!names_model(plan.agent)) {
    const bool chosen = choices.budget_usd || choices.budget_tokens || choices.max_output_tokens ||
                        choices.context_window || !choices.key_file.empty() || !choices.effort.empty();
    if (!chosen) return {};
    return invalid("budgets, keys and the like are for an agent that is a model: " + std::string(kModelForms));
  }
  Result<ModelPlan> model = plan_model(plan.agent, choices);
  if (!model) return because(model.error());
  plan.agent = model->options.agent;
  put_on_record(*model, plan.session);
  plan.model = std::move(*model);
  return {};
}

Result<void> check_time_left(const RunPlan& plan) {
  const traces::SessionState& past = plan.continuation->state;
  const bool whole = past.end && (past.end->reason == "cap" || past.end->reason == "finished");
  if (whole && plan.session.wall <= Seconds(past.start->wall_s))
    return invalid(plan.run.string() + " has ended (" + past.end->reason +
                   ") with its result; give it more with a longer --wall");
  const Seconds spent(past.active_s);
  if (spent < plan.session.wall) return {};
  return invalid("all " + agent::print_duration(plan.session.wall) + " of " + plan.run.string() +
                 " are used; give it more with --wall");
}

Result<void> load_task(const RunOptions& options, RunPlan& plan) {
  if (options.task.empty()) return invalid("which task? `onelaunch tasks list` names them");
  Result<tasks::Task> task = tasks::load_task(options.task, options.variant);
  if (!task) return because(task.error());
  plan.task = std::move(*task);
  if (plan.continuation && plan.task.sha256 != plan.continuation->state.start->task_sha256)
    return invalid("the task " + plan.task.name + " has changed since " + plan.run.string() + " was recorded");
  Result<std::string> seed = tasks::seed_kernel(plan.task);
  if (!seed) return because(seed.error());
  plan.seed_source = std::move(*seed);
  return {};
}

}  // namespace

Result<RunPlan> plan_run(const RunOptions& asked, const Clock& clock) {
  RunPlan plan;
  RunOptions options = asked;
  if (!asked.resume.empty()) {
    plan.run = asked.resume;
    Result<agent::Continuation> past = read_past(plan.run, plan.talk);
    if (!past) return because(past.error());
    Result<RunOptions> full = resumed_options(asked, *past->state.start);
    if (!full) return because(full.error());
    options = std::move(*full);
    plan.continuation = std::move(*past);
  }
  plan.agent = options.agent.empty() ? "tuner" : options.agent;
  if (const Result<void> known = check_agent(plan.agent); !known) return because(known.error());
  Result<std::string> device = choose_device(options.device);
  if (!device) return because(device.error());
  plan.device = plan.session.device = *device;
  if (const Result<void> set = set_limits(options, plan.session); !set) return because(set.error());
  if (const Result<void> set = set_model(options, plan); !set) return because(set.error());
  if (const Result<void> loaded = load_task(options, plan); !loaded) return because(loaded.error());
  if (plan.continuation)
    if (const Result<void> left = check_time_left(plan); !left) return because(left.error());
  if (!plan.continuation)
    plan.run = options.out.empty() ? default_run(plan, clock) : std::filesystem::path(options.out);
  plan.session.publish = options.publish.empty() ? std::filesystem::path("kernels_generated") / plan.task.name
                                                 : std::filesystem::path(options.publish);
  return plan;
}

}  // namespace onelaunch::cli
