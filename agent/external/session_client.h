#pragma once
// The other end of a session's socket: what a program that works in an open session asks of it.

#include <filesystem>
#include <functional>
#include <string>

#include "agent/external/tool_message.h"
#include "agent/loop/agent.h"
#include "base/result.h"

namespace onelaunch::agent {

// Asked about every tenth of a second; true gives up: the connection is closed, and the session cancels what it does for it.
using Cancelled = std::function<bool()>;

// Each fails (unavailable) when no session is open in `run`, when it ends before it answered, or when it was cancelled. A
// session that is opening or judging answers once it is done with that.
Result<Offer> ask_offer(const std::filesystem::path& run, const Cancelled& cancelled = {});
// `arguments`: JSON text.
Result<ToolAnswer> call_tool(const std::filesystem::path& run, const std::string& name, const std::string& arguments,
                             const Cancelled& cancelled = {});
// Hands in a kernel and waits for its report.
Result<Report> submit(const std::filesystem::path& run, const Proposal& proposal);

}  // namespace onelaunch::agent
