#include "agent/tools/catalog.h"

#include <algorithm>

#include "agent/tools/toolbox.h"

namespace onelaunch::agent {
namespace {

using Kind = Field::Kind;

const char* const kDefines = "Values of OL_TUNABLE constants, each \"NAME=VALUE\". Those not named keep their defaults.";

Field defines() { return {.name = "defines", .kind = Kind::list, .description = kDefines}; }

std::vector<ToolEntry> file_tools() {
  return {
      {.name = "read_kernel",
       .description = "Read the candidate file kernel.cu, with line numbers. Long files come in parts: give `from` and `to`.",
       .fields = {{.name = "from", .kind = Kind::integer, .description = "First line, from 1", .least = 1},
                  {.name = "to", .kind = Kind::integer, .description = "Last line", .least = 1}}},
      {.name = "write_kernel",
       .description = "Replace the whole candidate file kernel.cu. For small changes str_replace or apply_patch is cheaper.",
       .fields = {{.name = "source", .required = true, .description = "The complete CUDA C++ source"}}},
      {.name = "str_replace",
       .description = "Replace one piece of text in kernel.cu. `old` must be there exactly once, white space included, without the "
                      "line numbers that read_kernel shows.",
       .fields = {{.name = "old", .required = true, .description = "Text to replace, with enough of its surroundings to be unique"},
                  {.name = "new", .required = true, .description = "What takes its place; may be empty"}}},
      {.name = "apply_patch",
       .description = "Change several places of kernel.cu at once. All hunks are applied or none. Form:\n*** Begin Patch\n*** Update "
                      "File: kernel.cu\n@@ optional line that comes before the hunk\n unchanged line\n-removed line\n+added "
                      "line\n*** End Patch",
       .fields = {{.name = "patch", .required = true, .description = "The patch, from *** Begin Patch to *** End Patch"}}},
  };
}

std::vector<ToolEntry> trial_tools() {
  return {
      {.name = "compile",
       .description = "Compile kernel.cu for the session's device and check it statically. Answers registers, shared memory, spills, launch "
                      "and tunables, or the first errors with their lines. Not judged.",
       .fields = {defines()},
       .slow = true},
      {.name = "evaluate",
       .description = "Have kernel.cu judged: compiled, checked against the reference at all contexts, timed against the best kernel, and kept "
                      "if it is right and faster. The only way to make progress. Say what you changed and what you expect.",
       .fields = {{.name = "note", .required = true, .description = "One line: what is new in this attempt and why it should help"},
                  {.name = "predict_us", .kind = Kind::number, .description = "The time that you expect, us a token"},
                  defines()},
       .slow = true},
      {.name = "profile",
       .description = "Where kernel.cu spends its time, by its OL_PHASE(\"name\") marks: time, waiting, critical path, bytes; what its OL_PROBE "
                      "marks find wrong. On an instrumented build; not judged.",
       .fields = {defines()},
       .slow = true},
      {.name = "microbench",
       .description = "What this device can do at best: streams from memory, grid barrier, launch; and the floor of a token from them.",
       .fields = {},
       .slow = true},
      {.name = "emulate",
       .description = "Run kernel.cu on the emulator at the task's smallest variant, under detectors of data races, undefined reads, "
                      "out-of-bounds accesses and deadlocks, with several orders of the blocks. Findings come with place and lane.",
       .fields = {{.name = "schedules", .kind = Kind::integer, .description = "Orders of blocks to try, 1 to 16 (default 3)", .least = 1},
                  defines()},
       .slow = true},
      {.name = "disassemble",
       .description = "PTX of kernel.cu, and machine code where a disassembler is installed: counts by instruction, and the lines that "
                      "match a pattern.",
       .fields = {{.name = "pattern", .description = "Regular expression (ECMAScript) for lines, such as `ld.global|cp.async`"}, defines()},
       .slow = true},
  };
}

std::vector<ToolEntry> session_tools() {
  return {
      {.name = "history",
       .description = "All attempts with times, verdicts, predictions against outcomes. With `id`: all about that attempt, its source and "
                      "how it differs from what it was made from.",
       .fields = {{.name = "id", .description = "Such as c17"},
                  {.name = "from", .kind = Kind::integer, .description = "With `id`: first line of the source to show", .least = 1}}},
      {.name = "revert",
       .description = "Make the source of an earlier attempt the candidate file again. Any judged attempt will do; c0 is the seed.",
       .fields = {{.name = "id", .required = true, .description = "Such as c17"}}},
      {.name = "notes",
       .description = "Your memory: what you write here survives when the conversation is begun anew. Without `text`: read all of it.",
       .fields = {{.name = "text", .description = "To be added"}}},
      {.name = "task",
       .description = "The task as it is defined: `prose` what is computed, `rules`, `header` the generated onelaunch.cuh, `floor` the bytes "
                      "that must move and the time that takes, `probes` how OL_PHASE and OL_PROBE are used here.",
       .fields = {{.name = "section",
                   .required = true,
                   .description = "Which part",
                   .choices = {"prose", "rules", "header", "floor", "probes"}},
                  {.name = "from", .kind = Kind::integer, .description = "First line to show, of a long section", .least = 1}}},
      {.name = "finish",
       .description = "End the session early: you have no idea left that is worth trying. The best kernel is verified and kept.",
       .fields = {{.name = "reason", .required = true, .description = "One line"}}},
  };
}

std::vector<ToolEntry> entries() {
  std::vector<ToolEntry> all = file_tools();
  for (auto part : {trial_tools(), session_tools()})
    for (ToolEntry& entry : part) all.push_back(std::move(entry));
  return all;
}

std::vector<Tool> as_tools() {
  std::vector<Tool> tools;
  for (const ToolEntry& entry : tool_entries())
    tools.push_back(
        {.name = entry.name, .description = entry.description, .schema = schema_of(entry.fields), .slow = entry.slow});
  return tools;
}

}  // namespace

const std::vector<ToolEntry>& tool_entries() {
  static const std::vector<ToolEntry> all = entries();
  return all;
}

const ToolEntry* find_tool(const std::string& name) {
  const auto found = std::ranges::find(tool_entries(), name, &ToolEntry::name);
  return found == tool_entries().end() ? nullptr : &*found;
}

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> all = as_tools();
  return all;
}

}  // namespace onelaunch::agent
