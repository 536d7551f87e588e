#include "traces/timeline_head.h"

#include "traces/text.h"

namespace onelaunch::traces {
namespace {

std::string title(const SessionStart& start) {
  std::string text = one_line(start.task);
  if (!start.variant.empty()) text += " (" + one_line(start.variant) + ")";
  text += " | agent " + one_line(start.agent) + " | onelaunch " + one_line(start.harness_version) + "\n";
  return text;
}

std::string terms(const SessionStart& start, const std::string& first_ts) {
  std::string text = "started " + first_ts + " | wall " + fixed(start.wall_s, 0) + " s, reserve " +
                     fixed(start.reserve_s, 0) + " s | min gain " + percent(start.min_gain);
  if (start.budget_usd) text += " | at most " + fixed(*start.budget_usd, 2) + " USD";
  if (start.budget_tokens) text += " | at most " + std::to_string(*start.budget_tokens) + " tokens";
  if (!start.containment.empty()) text += " | containment " + one_line(start.containment);
  return text + "\n";
}

std::string device_line(const SessionState& state) {
  std::string text = "device ";
  if (state.device) {
    text += one_line(state.device->name) + " (" + one_line(state.device->kind);
    if (!state.device->uuid.empty()) text += " " + one_line(state.device->uuid);
    text += "), " + one_line(state.device->target) + ", " + std::to_string(state.device->sms) + " SMs";
  } else {
    text += state.start ? one_line(state.start->device) : "unknown";
  }
  const std::string kind = state.kind();
  if (kind == "modelled") text += " | times are MODELLED, not measured";
  if (kind == "measured") text += " | times are measured";
  return text + "\n";
}

std::string ceilings_line(const Ceilings& ceilings) {
  std::string text = "ceilings: stream " + fixed(ceilings.stream_tb_s, 2) + " TB/s, grid barrier " +
                     fixed(ceilings.grid_barrier_us, 2) + " us, launch " + fixed(ceilings.launch_us, 2) + " us";
  for (const auto& floor : ceilings.floors)
    text += " | floor at context " + std::to_string(floor.context) + ": " + micros(floor.us) + " us";
  return text + (ceilings.modelled ? " (modelled)\n" : " (measured)\n");
}

std::string baseline_line(const Baseline& baseline) {
  std::string text = "baseline " + one_line(baseline.name) + ": ";
  const std::optional<double> us = score_of(baseline.times);
  text += us ? micros(*us) + " us" : "no time";
  text += " (" + one_line(baseline.kind) + ", " + std::to_string(baseline.launches) + " launches" +
          (baseline.correct ? ")" : ", WRONG)");
  return text + "\n";
}

std::string best_line(const SessionState& state) {
  if (state.best.empty()) return "best: none kept\n";
  std::string text = "best " + one_line(state.best);
  if (state.best_us) text += ": " + micros(*state.best_us) + " us (" + state.kind() + ")";
  const Baseline* baseline = state.baseline();
  if (baseline && state.best_us && baseline->kind == state.kind())
    if (const auto us = score_of(baseline->times))
      text += ", " + factor(*us / *state.best_us) + " over " + one_line(baseline->name) + " (" + micros(*us) + " us)";
  if (state.best_us && state.seed_us)
    text += ", " + factor(*state.seed_us / *state.best_us) + " over the seed (" + micros(*state.seed_us) + " us)";
  return text + "\n";
}

std::string contexts(const SessionState& state) {
  std::string text;
  for (const auto& [context, time] : state.times_of(state.best)) {
    text += "  context " + std::to_string(context) + ": " + micros(time.us_median) + " us";
    if (state.ceilings)
      for (const auto& floor : state.ceilings->floors)
        if (floor.context == context && floor.us > 0 && time.us_median > 0)
          text += ", " + percent(floor.us / time.us_median) + " of the floor's speed";
    text += "\n";
  }
  return text;
}

std::string regrade_line(const SessionState& state) {
  if (!state.regrade) return "re-grade: none, so the result is UNVERIFIED\n";
  std::string text = "re-grade of " + one_line(state.regrade->candidate) + ": " + one_line(state.regrade->outcome);
  if (state.regrade->us > 0) text += ", " + micros(state.regrade->us) + " us (" + one_line(state.regrade->kind) + ")";
  return text + (state.verified() ? "\n" : ", so the result is UNVERIFIED\n");
}

std::string ending(const SessionState& state, const std::string& run) {
  if (!state.end)
    return "NOT FINISHED: the trace ends at " + fixed(state.active_s, 1) + " s; go on with: onelaunch run " +
           (state.start ? one_line(state.start->task) : "TASK") + " --resume " + one_line(run) + "\n";
  std::string text = "ended: " + one_line(state.end->reason);
  if (!state.end->detail.empty()) text += " (" + one_line(state.end->detail) + ")";
  text += "\n";
  if (state.end->experiments_per_hour)
    text += "pace: " + fixed(*state.end->experiments_per_hour, 0) + " experiments an hour" +
            (state.end->decision_s_median ? ", median " + fixed(*state.end->decision_s_median, 1) + " s to a decision" : "") +
            "\n";
  if (!state.end->attribution_s.empty()) {
    text += "time:";
    for (const auto& [what, seconds] : state.end->attribution_s) text += " " + one_line(what) + " " + fixed(seconds, 1) + " s,";
    text.back() = '\n';
  }
  return text;
}

}  // namespace

std::string session_head(const SessionState& state, const std::string& first_ts) {
  std::string text;
  if (state.start) text += title(*state.start) + terms(*state.start, first_ts);
  text += device_line(state);
  if (state.ceilings) text += ceilings_line(*state.ceilings);
  for (const auto& [name, baseline] : state.baselines) text += baseline_line(baseline);
  if (state.noise)
    text += "A/A noise: +-" + fixed(100 * state.noise->half_width, 3) + " % (n " + std::to_string(state.noise->n) +
            (state.noise->workers > 0 ? " in " + std::to_string(state.noise->workers) + " workers" : "") + ", " +
            (state.noise->modelled ? "modelled" : "measured") + ")\n";
  for (const Control& control : state.controls)
    text += "control " + one_line(control.name) + ": " +
            (control.failed_as_it_must ? "failed, as it must" : "PASSED, and must not") +
            (control.outcome.empty() ? "" : " (" + one_line(control.outcome) + ")") + "\n";
  return text;
}

std::string session_close(const SessionState& state, const std::string& run) {
  std::string text = best_line(state) + contexts(state) + regrade_line(state);
  text += std::to_string(state.decisions) + " judged, " + std::to_string(state.kept) + " kept, " +
          fixed(state.active_s, 1) + " s active";
  if (state.legs > 1) text += " in " + std::to_string(state.legs) + " legs";
  if (state.infra_errors > 0) text += ", " + std::to_string(state.infra_errors) + " infrastructure errors";
  if (state.model_turns > 0)
    text += ", " + std::to_string(state.model_turns) + " model turns (" + std::to_string(state.input_tokens) + " + " +
            std::to_string(state.output_tokens) + " tokens, " + fixed(state.cost_usd, 2) + " USD)";
  return text + "\n" + ending(state, run);
}

}  // namespace onelaunch::traces
