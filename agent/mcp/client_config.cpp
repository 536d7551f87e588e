#include "agent/mcp/client_config.h"

#include <nlohmann/json.hpp>

namespace onelaunch::agent::mcp {
namespace {

using json = nlohmann::ordered_json;

constexpr int kToolSeconds = 90;  // ours are answered within 45

std::string claude(const ServerCommand& command) {
  const json server = {{"type", "stdio"}, {"command", command.program}, {"args", command.arguments}};
  return json({{"mcpServers", {{"onelaunch", server}}}}).dump(2) + "\n";
}

std::string gemini(const ServerCommand& command) {
  const json server = {
      {"command", command.program}, {"args", command.arguments}, {"timeout", kToolSeconds * 1000}, {"trust", true}};
  return json({{"mcpServers", {{"onelaunch", server}}}}).dump(2) + "\n";
}

std::string opencode(const ServerCommand& command) {
  json words = json::array({command.program});
  for (const std::string& argument : command.arguments) words.push_back(argument);
  const json server = {{"type", "local"}, {"command", words}, {"enabled", true}, {"timeout", kToolSeconds * 1000}};
  return json({{"$schema", "https://opencode.ai/config.json"}, {"mcp", {{"onelaunch", server}}}}).dump(2) + "\n";
}

// A JSON string and an array of them are TOML as well.
std::string codex(const ServerCommand& command) {
  return "[mcp_servers.onelaunch]\ncommand = " + json(command.program).dump() + "\nargs = " + json(command.arguments).dump() +
         "\nstartup_timeout_sec = 30\ntool_timeout_sec = " + std::to_string(kToolSeconds) + "\n";
}

}  // namespace

const std::vector<std::string>& known_clients() {
  static const std::vector<std::string> names = {"claude", "codex", "opencode", "gemini"};
  return names;
}

Result<std::string> client_config(const std::string& client, const ServerCommand& command) {
  if (client == "claude") return claude(command);
  if (client == "codex") return codex(command);
  if (client == "opencode") return opencode(command);
  if (client == "gemini") return gemini(command);
  return invalid("unknown client `" + client + "`; there are: claude, codex, opencode, gemini");
}

std::string where_config_goes(const std::string& client) {
  if (client == "claude") return ".mcp.json of a project, or a file given with --mcp-config";
  if (client == "codex") return "~/.codex/config.toml";
  if (client == "opencode") return "opencode.json of a project";
  return "~/.gemini/settings.json";
}

}  // namespace onelaunch::agent::mcp
