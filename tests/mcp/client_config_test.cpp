#include "agent/mcp/client_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace onelaunch::agent::mcp {
namespace {

using nlohmann::json;

const ServerCommand kCommand{.program = "/opt/one launch/onelaunch", .arguments = {"mcp", "rmsnorm_linear", "--wall", "10m"}};

TEST(ClientConfig, NamesTheProgramAndItsArgumentsForEveryClient) {
  const json claude = json::parse(*client_config("claude", kCommand))["mcpServers"]["onelaunch"];
  EXPECT_EQ(claude["type"], "stdio");
  EXPECT_EQ(claude["command"], kCommand.program);
  EXPECT_EQ(claude["args"], json(kCommand.arguments));
  const json gemini = json::parse(*client_config("gemini", kCommand))["mcpServers"]["onelaunch"];
  EXPECT_EQ(gemini["command"], kCommand.program);
  EXPECT_EQ(gemini["trust"], true);
  const json opencode = json::parse(*client_config("opencode", kCommand))["mcp"]["onelaunch"];
  EXPECT_EQ(opencode["type"], "local");
  EXPECT_EQ(opencode["command"], json::array({kCommand.program, "mcp", "rmsnorm_linear", "--wall", "10m"}));
  const std::string codex = *client_config("codex", kCommand);
  EXPECT_NE(codex.find("[mcp_servers.onelaunch]\ncommand = \"/opt/one launch/onelaunch\"\n"), std::string::npos) << codex;
  EXPECT_NE(codex.find(R"(args = ["mcp","rmsnorm_linear","--wall","10m"])"), std::string::npos) << codex;
}

TEST(ClientConfig, SaysWhichClientsThereAre) {
  const auto unknown = client_config("emacs", kCommand);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, Error::Kind::invalid_input);
  for (const std::string& client : known_clients()) {
    EXPECT_NE(unknown.error().message.find(client), std::string::npos);
    EXPECT_TRUE(client_config(client, kCommand));
    EXPECT_NE(where_config_goes(client), "");
  }
}

}  // namespace
}  // namespace onelaunch::agent::mcp
