#include "agent/cli/regrade.h"

#include <algorithm>

#include "agent/cli/open_device.h"
#include "agent/loop/limits.h"
#include "tasks/catalog.h"
#include "traces/reader.h"

namespace onelaunch::cli {
namespace {

constexpr double kGradeSeconds = 3600;

std::vector<const traces::Attempt*> chosen(const traces::SessionState& state, bool only_best) {
  std::vector<const traces::Attempt*> list;
  for (const traces::Attempt& attempt : state.attempts) {
    const bool kept = attempt.decision && attempt.decision->verdict == "keep";
    if (only_best ? attempt.candidate.id == state.best : kept || attempt.candidate.id == state.best) list.push_back(&attempt);
  }
  return list;
}

std::string task_remark(const tasks::Task& task, const traces::SessionState& state) {
  return task.sha256 == state.start->task_sha256 ? "" : "the task's file has changed since: other inputs, tolerances or rules";
}

void put_recorded(const traces::SessionState& state, RegradedKernel& kernel) {
  const auto times = state.times_of(kernel.id);
  for (const auto& [context, time] : times) kernel.recorded_us[context] = time.us_median;
  kernel.recorded = traces::score_of(times);
}

void put_grade(const sandbox::Grade& grade, RegradedKernel& kernel) {
  kernel.outcome = sandbox::name_of(grade.outcome);
  if (!std::holds_alternative<sandbox::Passed>(grade.outcome)) kernel.explanation = sandbox::explain(grade.outcome);
  kernel.quarantine = grade.quarantine;
  for (const sandbox::Measurement& time : grade.times) kernel.here_us[time.context] = time.us_median;
  if (!grade.times.empty()) kernel.here = sandbox::score_us(grade.times);
}

Result<RegradedKernel> regrade(sandbox::Sandbox& sandbox, const traces::SessionState& state, const traces::Attempt& attempt,
                               const RegradeRequest& request, const Clock& clock) {
  RegradedKernel kernel{.id = attempt.candidate.id};
  put_recorded(state, kernel);
  const Result<std::string> source = traces::read_blob(request.run, attempt.candidate.source_sha256);
  if (!source) return because(source.error(), "the source of " + kernel.id);
  const auto compiled = sandbox.compile({.source = *source, .tunables = attempt.candidate.tunables},
                                        Deadline::after(clock, Seconds(agent::SessionLimits{}.compile_s)));
  if (!compiled) return because(compiled.error(), "compiling " + kernel.id);
  if (!std::holds_alternative<sandbox::Passed>(compiled->outcome)) {
    kernel.outcome = sandbox::name_of(compiled->outcome);
    kernel.explanation = sandbox::explain(compiled->outcome);
    return kernel;
  }
  const auto grade = sandbox.grade(*compiled, {}, Deadline::after(clock, Seconds(kGradeSeconds)));
  if (!grade) return because(grade.error(), "grading " + kernel.id);
  put_grade(*grade, kernel);
  return kernel;
}

}  // namespace

bool RegradeReport::all_passed() const {
  return std::ranges::all_of(kernels, [](const RegradedKernel& k) { return k.outcome == "passed" && k.quarantine.empty(); });
}

Result<traces::SessionState> recorded_state(const std::filesystem::path& run) {
  traces::SessionState state;
  const auto read = traces::read_trace(run, [&](const traces::Record& record) {
    state.apply(record);
    return true;
  });
  if (!read) return because(read.error());
  if (!state.start) return invalid(run.string() + " holds no session");
  return state;
}

std::string repeat_device(const traces::SessionState& state, const std::string& asked) {
  if (!asked.empty()) return asked;
  return state.device && state.device->kind == "emu" ? "emu" : "auto";
}

Result<RegradeReport> regrade_run(const RegradeRequest& request, const Clock& clock) {
  const Result<traces::SessionState> state = recorded_state(request.run);
  if (!state) return because(state.error());
  const std::vector<const traces::Attempt*> kernels = chosen(*state, request.only_best);
  if (kernels.empty()) return invalid(request.run.string() + " kept no candidate: there is nothing to grade again");
  const Result<tasks::Task> task = tasks::load_task(state->start->task, state->start->variant);
  if (!task) return because(task.error());
  request.busy("starting the device");
  DeviceOptions device{.device = repeat_device(*state, request.device)};
  if (!state->start->target.empty()) device.target = state->start->target;
  if (state->end) device.weight_seed = state->end->session_seed;
  const auto sandbox = open_device(*task, device, clock);
  if (!sandbox) return because(sandbox.error());
  const sandbox::DeviceInfo& here = (*sandbox)->device();
  RegradeReport report{.run = request.run.string(), .task = task->name, .variant = task->variant,
                       .recorded_device = state->device ? state->device->name : "", .recorded_kind = state->kind(),
                       .here_device = here.name, .here_kind = here.kind == "emu" ? "modelled" : "measured"};
  if (const std::string remark = task_remark(*task, *state); !remark.empty()) report.remarks.push_back(remark);
  for (const traces::Attempt* attempt : kernels) {
    request.busy("grading " + attempt->candidate.id);
    Result<RegradedKernel> kernel = regrade(**sandbox, *state, *attempt, request, clock);
    if (!kernel) return because(kernel.error());
    const bool comparable = report.recorded_kind == report.here_kind && kernel->recorded_us.size() == kernel->here_us.size();
    if (comparable && kernel->recorded && kernel->here) kernel->ratio = *kernel->here / *kernel->recorded;
    report.kernels.push_back(std::move(*kernel));
  }
  return report;
}

}  // namespace onelaunch::cli
