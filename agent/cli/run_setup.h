#pragma once
// From the options of `run` to what a session needs: a task, a run directory, the past of a resumed session.

#include <filesystem>
#include <optional>
#include <string>

#include "agent/cli/run_model.h"
#include "agent/loop/session.h"
#include "base/clock.h"
#include "base/result.h"
#include "tasks/task.h"

namespace onelaunch::cli {

struct RunOptions {
  std::string task, variant, agent, device = "auto", target = "sm_90a", wall, min_gain;
  std::optional<std::uint64_t> session_seed;
  std::string out, publish, resume;
  bool json = false;
  ModelChoices model;
};

// Everything decided before a worker is started. Nothing is written yet.
struct RunPlan {
  tasks::Task task;
  std::string seed_source, agent, device;
  std::filesystem::path run;
  agent::SessionOptions session;
  std::optional<agent::Continuation> continuation;
  std::optional<ModelPlan> model;       // when the agent is one
  std::vector<traces::Record> talk;     // of a continued session: what concerns its model
};

// Fails (invalid_input) on an unknown task, agent or device, a key that is missing, a cap of nothing, a run directory
// that is not what the other options say.
Result<RunPlan> plan_run(const RunOptions& options, const Clock& clock);

}  // namespace onelaunch::cli
