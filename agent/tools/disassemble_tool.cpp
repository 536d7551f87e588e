#include "agent/tools/compile_text.h"
#include "agent/tools/desk.h"
#include "agent/tools/instruction_text.h"
#include "agent/tools/text_lines.h"

namespace onelaunch::agent {
namespace {

constexpr std::size_t kKindsShown = 24;

std::string excerpt_text(const Desk& desk, const std::string& name, const std::string& code, const std::function<bool(const std::string&)>& matches) {
  const auto stop = [&] { return desk.bench.stopping() || !(desk.bench.situation().left_s > 0); };
  const Excerpt excerpt = matching_lines(code, matches, desk.limits.reply_bytes / 3, stop);
  std::string text = name + ": " + std::to_string(excerpt.matches) + " lines match" + (excerpt.stopped ? " (not all of it was looked at)" : "");
  if (excerpt.shown < excerpt.matches)
    text += ", the first " + std::to_string(excerpt.shown) + " are shown; a narrower pattern shows the others";
  return text + "\n" + excerpt.text;
}

}  // namespace

ToolReply disassemble_kernel(Desk& desk, const Arguments& arguments, Deadline deadline) {
  const auto defines = parse_defines(arguments.list("defines"));
  if (!defines) return refuse(defines.error().message + ".");
  const std::string pattern = arguments.text("pattern");
  const auto matches = line_pattern(pattern);
  if (!matches) return refuse("`pattern`: " + matches.error().message + ".");
  const Result<sandbox::Compiled> compiled = desk.bench.compile(proposal_of(desk, *defines), deadline);
  if (!compiled) return refuse("Could not compile: " + compiled.error().message + ".");
  if (!std::holds_alternative<sandbox::Passed>(compiled->outcome)) return refuse(compile_text(*compiled, desk.limits.reply_bytes / 2));
  const Result<std::string> sass = desk.bench.machine_code(*compiled, deadline);
  std::string text = "PTX: " + std::to_string(lines_of(compiled->ptx).size()) + " lines; " + ptx_counts(compiled->ptx, kKindsShown) + "\n";
  text += sass ? "machine code: " + sass_counts(*sass, kKindsShown) + "\n" : "machine code: not available (" + sass.error().message + ")\n";
  if (pattern.empty()) return answer(text + "Give a `pattern` to see lines, such as `ld\\.global` or `LDG|STG`.\n");
  text += excerpt_text(desk, "PTX", compiled->ptx, *matches);
  if (sass) text += excerpt_text(desk, "machine code", *sass, *matches);
  return answer(text);
}

}  // namespace onelaunch::agent
