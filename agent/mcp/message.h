#pragma once
// The Model Context Protocol on the wire: JSON-RPC 2.0, one message a line. Both eras: the one that opens with `initialize`
// (2024-11-05 to 2025-11-25) and the stateless one (2026-07-28), whose requests name their version in params._meta.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/external/tool_message.h"
#include "agent/tools/toolbox.h"

namespace onelaunch::agent::mcp {

enum class Era { initialized, stateless };

// A request, or a notification when it has no id. Ids and tokens are JSON texts: `7`, `"a"`.
struct Request {
  std::string id, method;
  Era era = Era::initialized;
  std::string version;          // initialize: the one asked for
  std::string tool, arguments;  // tools/call
  std::string progress_token;   // empty: nobody wants to hear of progress
  std::string cancels;          // notifications/cancelled: id of the request
};
// Why a message is no request of ours, as the line that answers it; empty where nothing is to be answered.
struct Refusal {
  std::string line;
};

std::variant<Request, Refusal> parse(std::string_view line);

// The lines that answer. None contains a line break.
std::string print_initialized(const Request& request, const std::string& server_version, const std::string& instructions);
std::string print_discovered(const Request& request, const std::string& server_version, const std::string& instructions);
std::string print_tools(const Request& request, const std::string& server_version, const std::vector<Tool>& tools);
std::string print_answer(const Request& request, const std::string& server_version, const ToolAnswer& answer);
std::string print_nothing(const Request& request);  // of a ping
std::string print_unknown_method(const Request& request);
std::string print_taken_id(const Request& request);
std::string print_progress(const Request& request, int seconds, const std::string& what);
std::string print_too_long();

}  // namespace onelaunch::agent::mcp
