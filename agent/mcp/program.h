#pragma once
// `onelaunch mcp` between its arguments and its exit: serves on standard input and output.

#include <functional>
#include <string>

#include "agent/mcp/tool_host.h"
#include "base/result.h"

namespace onelaunch::agent::mcp {

// Until the input ends or `stop` gives true. Only the protocol is written to `out`.
Result<void> serve(int in, int out, ToolHost& host, const std::string& version, const std::function<bool()>& stop);

}  // namespace onelaunch::agent::mcp
