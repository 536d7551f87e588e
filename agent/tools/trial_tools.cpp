// Tools that try the candidate file out without having it judged.
#include <algorithm>

#include "agent/tools/compile_text.h"
#include "agent/tools/desk.h"
#include "agent/tools/reporting_text.h"
#include "agent/tools/text_lines.h"

namespace onelaunch::agent {
namespace {

constexpr std::int64_t kSchedules = 3, kSchedulesMax = 16;
constexpr double kCompileLeast_s = 2, kTrialLeast_s = 5;  // with less left than this nothing is begun
constexpr double kMargin = 1.1;

// Why a trial that takes this long cannot be begun.
std::optional<std::string> no_time(const Desk& desk, const std::string& what, double takes_s) {
  const Workbench::Situation now = desk.bench.situation();
  if (desk.bench.stopping()) return "The session has been asked to stop; nothing new is begun.";
  if (now.left_s >= takes_s) return std::nullopt;
  return "No time for it: " + what + number_text(" takes about %.0f s", takes_s) + number_text(", and %.0f s are left for new work.", now.left_s);
}

struct Trial {
  std::optional<ToolReply> refused;
  Proposal proposal;
};

Trial begin_trial(const Desk& desk, const Arguments& arguments, const std::string& what, double takes_s) {
  auto defines = parse_defines(arguments.list("defines"));
  if (!defines) return {.refused = refuse(defines.error().message + ".")};
  if (desk.source.empty()) return {.refused = refuse("kernel.cu is empty; write_kernel or revert first.")};
  if (const auto why = no_time(desk, what, takes_s)) return {.refused = refuse(*why)};
  return {.refused = {}, .proposal = proposal_of(desk, *defines)};
}

std::string gate_text(const sandbox::GateResult& gate) {
  std::string text = std::string(gate.passed ? "passed" : "FAILED") + " " + gate.stage;
  if (!gate.test.empty()) text += " " + gate.test;
  if (!gate.tensor.empty()) text += " of " + gate.tensor + "[" + std::to_string(gate.index) + "]";
  if (gate.stage == "correctness")
    text += ", context " + std::to_string(gate.context) + ", step " + std::to_string(gate.step) + number_text(": got %.6g", gate.got) +
            number_text(", want %.6g", gate.want) + number_text(", tolerance %.3g", gate.tolerance);
  return text + (gate.detail.empty() ? "" : "; " + gate.detail) + "\n";
}

std::string emulation_text(const Desk& desk, const sandbox::Grade& grade, std::int64_t schedules) {
  const std::string where = "On the emulator, variant " + desk.bench.emulated_variant() + ", " + std::to_string(schedules) +
                            (schedules == 1 ? " order" : " orders") + " of the blocks: ";
  if (std::holds_alternative<sandbox::Passed>(grade.outcome))
    return where + "right, and no race between blocks, undefined read, out-of-bounds access or deadlock was found.\n";
  if (const auto* failed = std::get_if<sandbox::CompileFailed>(&grade.outcome))
    return where + "it does not compile for that variant (does it hold sizes as numbers instead of ol::dim?):\n" +
           first_errors(failed->log, desk.limits.reply_bytes / 4);
  std::string text = where + sandbox::name_of(grade.outcome) + "\n" + sandbox::explain(grade.outcome) + "\n";
  for (const sandbox::GateResult& gate : grade.gates)
    if (!gate.passed) text += gate_text(gate);
  if (std::holds_alternative<sandbox::WrongAnswer>(grade.outcome))
    text += "The detectors come after the plain runs, and have not looked yet.\n";
  if (!grade.printed.empty()) text += "the kernel printed:\n" + clipped(grade.printed, desk.limits.reply_bytes / 4, "print less") + "\n";
  return text;
}

}  // namespace

ToolReply compile_kernel(Desk& desk, const Arguments& arguments, Deadline deadline) {
  const Trial trial = begin_trial(desk, arguments, "compiling", kCompileLeast_s);
  if (trial.refused) return *trial.refused;
  const Result<sandbox::Compiled> compiled = desk.bench.compile(trial.proposal, deadline);
  if (!compiled) return refuse("Could not compile: " + compiled.error().message + ".");
  ToolReply reply = answer(compile_text(*compiled, desk.limits.reply_bytes / 2));
  reply.error = !std::holds_alternative<sandbox::Passed>(compiled->outcome);
  return reply;
}

ToolReply profile_kernel(Desk& desk, const Arguments& arguments, Deadline deadline) {
  const Trial trial = begin_trial(desk, arguments, "a profile", std::max(kTrialLeast_s, kMargin * desk.profile_s));
  if (trial.refused) return *trial.refused;
  const double before_s = desk.bench.situation().used_s;
  const Result<std::string> profile = desk.bench.profile(trial.proposal, deadline);
  if (!profile) return refuse("Could not profile: " + profile.error().message + ".");
  desk.profile_s = std::max(desk.profile_s, desk.bench.situation().used_s - before_s);
  return answer(clipped(*profile, desk.limits.reply_bytes, "fewer and coarser OL_PHASE marks make it shorter"));
}

ToolReply measure_device(Desk& desk, const Arguments&, Deadline deadline) {
  const Result<std::string> ceilings = desk.bench.microbench(deadline);
  if (!ceilings) return refuse("Could not measure the device: " + ceilings.error().message + ".");
  return answer(clipped(*ceilings, desk.limits.reply_bytes, ""));
}

ToolReply emulate_kernel(Desk& desk, const Arguments& arguments, Deadline deadline) {
  const std::int64_t schedules = arguments.integer("schedules").value_or(kSchedules);
  if (schedules > kSchedulesMax) return refuse("`schedules` may be at most " + std::to_string(kSchedulesMax) + ".");
  const Trial trial = begin_trial(desk, arguments, "an emulation", std::max(kTrialLeast_s, kMargin * desk.emulate_s));
  if (trial.refused) return *trial.refused;
  sandbox::GradeRequest request{.check = sandbox::Check::quick, .detect = true};
  request.schedules = static_cast<int>(schedules);
  const double before_s = desk.bench.situation().used_s;
  const Result<sandbox::Grade> grade = desk.bench.emulate(trial.proposal, request, deadline);
  if (!grade) return refuse("Could not emulate: " + grade.error().message + ".");
  desk.emulate_s = std::max(desk.emulate_s, desk.bench.situation().used_s - before_s);
  return answer(clipped(emulation_text(desk, *grade, schedules), desk.limits.reply_bytes, ""));
}

}  // namespace onelaunch::agent
