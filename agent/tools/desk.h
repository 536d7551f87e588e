#pragma once
// What the tools work on, and what each of them is: one function.

#include <cstddef>
#include <string>

#include "agent/loop/workbench.h"
#include "agent/tools/arguments.h"
#include "agent/tools/toolbox.h"

namespace onelaunch::agent {

struct ToolLimits {
  std::size_t source_bytes = 4u << 20;   // of the candidate file
  std::size_t notes_bytes = 64u << 10;
  std::size_t reply_bytes = 24u << 10;   // of most replies
  std::size_t listing_bytes = 48u << 10; // of source and of long texts
};

struct Desk {
  Workbench& bench;
  std::string source;         // kernel.cu
  // The judged attempt that it was made from: its id, or while that is not known the hash of its source.
  std::string origin, origin_sha256;
  std::string notes;
  ToolLimits limits = {};
  double emulate_s = 0, profile_s = 0;  // the longest so far
};

// Replies; Toolbox::call() adds the status line.
ToolReply answer(std::string text);
ToolReply refuse(std::string text);
// The file as it is has been proposed: what is made of it next comes from that attempt.
void settle_origin(Desk& desk);
// The candidate file with these values.
Proposal proposal_of(const Desk& desk, const sandbox::TunableValues& defines);

ToolReply read_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply write_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply replace_text(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply patch_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply compile_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply evaluate_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply profile_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply measure_device(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply emulate_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply disassemble_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply show_history(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply revert_kernel(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply take_notes(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply show_task(Desk& desk, const Arguments& arguments, Deadline deadline);
ToolReply finish_session(Desk& desk, const Arguments& arguments, Deadline deadline);

}  // namespace onelaunch::agent
