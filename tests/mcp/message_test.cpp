#include "agent/mcp/message.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace onelaunch::agent::mcp {
namespace {

using nlohmann::json;

Request request_of(const std::string& line) {
  const auto message = parse(line);
  if (const auto* request = std::get_if<Request>(&message)) return *request;
  ADD_FAILURE() << line << " was refused: " << std::get<Refusal>(message).line;
  return {};
}

json refusal_of(const std::string& line) {
  const auto message = parse(line);
  if (const auto* refusal = std::get_if<Refusal>(&message)) return json::parse(refusal->line);
  ADD_FAILURE() << line << " was taken";
  return {};
}

constexpr const char* kMeta = R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

TEST(Message, EchoesAKnownVersionAndOffersTheNewestOtherwise) {
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    const Request request = request_of(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                                       std::string(version) + R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
    EXPECT_EQ(json::parse(print_initialized(request, "1", "how"))["result"]["protocolVersion"], version);
  }
  const Request future = request_of(R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2031-01-01"}})");
  const json answer = json::parse(print_initialized(future, "1", "how"));
  EXPECT_EQ(answer["id"], "a");
  EXPECT_EQ(answer["result"]["protocolVersion"], "2025-11-25");
  EXPECT_TRUE(answer["result"]["capabilities"]["tools"].is_object());
  EXPECT_FALSE(answer["result"].contains("resultType"));
}

TEST(Message, ReadsACallWithItsProgressToken) {
  const Request call = request_of(
      R"({"method":"tools/call","params":{"name":"compile","arguments":{"defines":["A=1"]},"_meta":{"progressToken":2}},"jsonrpc":"2.0","id":7})");
  EXPECT_EQ(call.id, "7");
  EXPECT_EQ(call.tool, "compile");
  EXPECT_EQ(json::parse(call.arguments), json::parse(R"({"defines":["A=1"]})"));
  EXPECT_EQ(call.progress_token, "2");
  EXPECT_EQ(call.era, Era::initialized);
}

TEST(Message, StatelessAnswersSayThatTheyAreComplete) {
  const Request list = request_of(R"({"jsonrpc":"2.0","id":0,"method":"tools/list","params":{"_meta":)" + std::string(kMeta) + "}}");
  EXPECT_EQ(list.era, Era::stateless);
  const json answer = json::parse(print_tools(list, "1", all_tools()));
  EXPECT_EQ(answer["result"]["resultType"], "complete");
  EXPECT_GT(answer["result"]["ttlMs"], 0);
  EXPECT_EQ(answer["result"]["cacheScope"], "private");
  EXPECT_EQ(answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "onelaunch");
  EXPECT_EQ(answer["result"]["tools"].size(), all_tools().size());
  EXPECT_EQ(answer["result"]["tools"][0]["inputSchema"]["type"], "object");
}

TEST(Message, RefusesAStatelessVersionItDoesNotKnowAndSaysWhichItDoes) {
  const json refusal = refusal_of(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2029-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})");
  EXPECT_EQ(refusal["id"], 3);
  EXPECT_EQ(refusal["error"]["code"], -32022);
  EXPECT_EQ(refusal["error"]["data"]["supported"], json::array({"2026-07-28"}));
  EXPECT_EQ(refusal["error"]["data"]["requested"], "2029-01-01");
}

TEST(Message, RefusesWhatIsNoRequestWithTheRightCode) {
  const std::pair<const char*, int> cases[] = {
      {"{", -32700},
      {"\xff\xfe", -32700},
      {"[]", -32600},
      {"7", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compile","arguments":[]}})", -32602},
  };
  for (const auto& [line, code] : cases) EXPECT_EQ(refusal_of(line)["error"]["code"], code) << line;
}

TEST(Message, LeavesAnswersAndBrokenNotificationsUnanswered) {
  for (const char* line : {R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})",
                           R"({"jsonrpc":"2.0","method":"notifications/x","params":[]})"}) {
    const auto message = parse(line);
    ASSERT_TRUE(std::holds_alternative<Refusal>(message)) << line;
    EXPECT_EQ(std::get<Refusal>(message).line, "");
  }
}

TEST(Message, IsOneLineOfValidTextWhateverAToolPrinted) {
  const Request call = request_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compile"}})");
  EXPECT_EQ(call.arguments, "{}");
  const std::string line = print_answer(call, "1", {.text = "a\nb\xff", .error = true});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const json answer = json::parse(line);
  EXPECT_EQ(answer["result"]["content"][0]["text"], "a\nb\xef\xbf\xbd");
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_FALSE(answer["result"].contains("structuredContent"));
}

}  // namespace
}  // namespace onelaunch::agent::mcp
