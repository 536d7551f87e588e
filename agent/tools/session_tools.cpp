#include "agent/loop/defaults.h"
#include "agent/tools/compile_text.h"
#include "agent/tools/desk.h"
#include "agent/tools/likeness.h"
#include "agent/tools/reporting_text.h"
#include "agent/tools/text_lines.h"
#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

std::optional<std::string> no_time(const Workbench& bench) {
  if (bench.stopping()) return "The session has been asked to stop; nothing new is judged.";
  const Workbench::Situation now = bench.situation();
  if (now.left_s > 0 && now.left_s >= now.evaluation_s) return std::nullopt;
  return number_text("No time for it: judging takes up to %.0f s here", now.evaluation_s) +
         number_text(", and %.0f s are left for new work. The best kernel is safe; finish.", now.left_s);
}

std::string told_before(const Report& same, const std::string& source) {
  std::string text = "Not judged again: this is the code of " + same.candidate +
                     (same.proposal.source == source ? ", byte for byte" : " but for white space and comments") + ", with the same tunables. ";
  text += same.candidate + " was: " + name_of(same.verdict) + " (" + same.outcome + ")";
  if (same.us) text += number_text(", %.2f us a token", *same.us);
  if (same.over_incumbent && !same.incumbent.empty()) text += number_text(", %.4fx over ", *same.over_incumbent) + same.incumbent;
  return text + (same.reason.empty() ? "" : "; " + same.reason) + "\n";
}

// What it takes to have the attempt itself again, where the defaults of its file are not enough.
std::string its_values(const Desk& desk, const std::string& id) {
  Proposal defaults{.source = desk.source};
  fill_defaults(defaults);
  for (const Report& report : desk.bench.history())
    if (report.candidate == id && report.proposal.tunables != defaults.tunables)
      return " It was judged with " + values_text(report.proposal.tunables) + ", which are not all defaults of the file: give them as `defines`.";
  return "";
}

}  // namespace

ToolReply evaluate_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  const auto defines = parse_defines(arguments.list("defines"));
  if (!defines) return refuse(defines.error().message + ".");
  if (desk.source.empty()) return refuse("kernel.cu is empty; write_kernel or revert first.");
  Proposal proposal = proposal_of(desk, *defines);
  if (const auto why = no_time(desk.bench)) return refuse(*why);
  if (const Report* same = same_attempt(desk.bench.history(), proposal)) return refuse(told_before(*same, desk.source));
  proposal.note = arguments.text("note");
  proposal.prediction_us = arguments.number("predict_us");
  settle_origin(desk);
  ToolReply reply;
  reply.proposal = std::move(proposal);
  return reply;
}

ToolReply revert_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  const std::string id = arguments.text("id");
  const Result<std::string> source = desk.bench.source_of(id);
  if (!source) return refuse(source.error().message + ".");
  desk.source = *source;
  desk.origin = id;
  return answer("kernel.cu is that of " + id + " again, " + std::to_string(lines_of(desk.source).size()) + " lines." + its_values(desk, id));
}

ToolReply take_notes(Desk& desk, const Arguments& arguments, Deadline) {
  std::string text = arguments.text("text");
  if (text.empty()) return answer(desk.notes.empty() ? "There are no notes yet." : desk.notes);
  if (text.back() != '\n') text += '\n';
  if (desk.notes.size() + text.size() > desk.limits.notes_bytes)
    return refuse("The notes would have " + std::to_string(desk.notes.size() + text.size()) + " bytes; at most " +
                  std::to_string(desk.limits.notes_bytes) + " are kept. Nothing was added.");
  desk.notes += text;
  return answer("Noted; " + std::to_string(desk.notes.size()) + " bytes of notes.");
}

ToolReply finish_session(Desk&, const Arguments& arguments, Deadline) {
  ToolReply reply = answer("The session ends: " + arguments.text("reason"));
  reply.finished = true;
  return reply;
}

}  // namespace onelaunch::agent
