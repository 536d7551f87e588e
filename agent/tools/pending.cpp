// Tools that are being written.
#include "agent/tools/desk.h"

namespace onelaunch::agent {

ToolReply profile_kernel(Desk&, const Arguments&, Deadline) { return refuse("profile is not there yet."); }
ToolReply measure_device(Desk&, const Arguments&, Deadline) { return refuse("microbench is not there yet."); }
ToolReply emulate_kernel(Desk&, const Arguments&, Deadline) { return refuse("emulate is not there yet."); }
ToolReply disassemble_kernel(Desk&, const Arguments&, Deadline) { return refuse("disassemble is not there yet."); }
ToolReply show_history(Desk&, const Arguments&, Deadline) { return refuse("history is not there yet."); }
ToolReply show_task(Desk&, const Arguments&, Deadline) { return refuse("task is not there yet."); }
ToolReply compile_kernel(Desk&, const Arguments&, Deadline) { return refuse("compile is not there yet."); }

}  // namespace onelaunch::agent
