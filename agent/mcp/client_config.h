#pragma once
// What coding CLIs want to read to use an MCP server.

#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::agent::mcp {

struct ServerCommand {
  std::string program;  // absolute
  std::vector<std::string> arguments;
};

// claude, codex, opencode, gemini
const std::vector<std::string>& known_clients();

// The contents of the client's configuration file. Fails (invalid_input) on an unknown client.
Result<std::string> client_config(const std::string& client, const ServerCommand& command);
// Where it goes, in a few words.
std::string where_config_goes(const std::string& client);

}  // namespace onelaunch::agent::mcp
