#pragma once
// What an MCP server offers, as a port: the tools of one session.

#include <string>

#include "agent/external/session_client.h"
#include "agent/external/tool_message.h"
#include "base/result.h"

namespace onelaunch::agent::mcp {

class ToolHost {
 public:
  virtual ~ToolHost() = default;
  // Both are called by several threads at once and return soon after `cancelled` gives true. Fail (unavailable) when the
  // session has ended.
  virtual Result<Offer> offer(const Cancelled& cancelled) = 0;
  virtual Result<ToolAnswer> call(const std::string& tool, const std::string& arguments, const Cancelled& cancelled) = 0;
};

}  // namespace onelaunch::agent::mcp
