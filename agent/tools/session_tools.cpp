#include "agent/tools/desk.h"
#include "agent/tools/text_lines.h"
#include "base/sha256.h"

namespace onelaunch::agent {

ToolReply evaluate_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  const auto defines = parse_defines(arguments.list("defines"));
  if (!defines) return refuse(defines.error().message + ".");
  ToolReply reply;
  reply.proposal = proposal_of(desk, *defines);
  reply.proposal->note = arguments.text("note");
  reply.proposal->prediction_us = arguments.number("predict_us");
  desk.origin_sha256 = sha256_hex(desk.source);
  return reply;
}

ToolReply revert_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  const std::string id = arguments.text("id");
  const Result<std::string> source = desk.bench.source_of(id);
  if (!source) return refuse(source.error().message + ".");
  desk.source = *source;
  desk.origin_sha256 = sha256_hex(desk.source);
  return answer("kernel.cu is that of " + id + " again, " + std::to_string(lines_of(desk.source).size()) + " lines.");
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
