// What only Anthropic's Messages API does.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/agent/llm/chat_fixture.h"

namespace onelaunch::llm {
namespace {

using Json = nlohmann::json;

class Anthropic : public testing::Test {
 protected:
  std::unique_ptr<Chat> chat_with(const FakeHttpServer& server, ChatOptions options = quick_options()) {
    auto chat = open(Api::anthropic, server.url(), clock_, std::move(options));
    chat->say("Go.");
    return chat;
  }
  // The events of one block after another, as the given JSON.
  static Answer stream(const std::vector<std::string>& events) {
    Answer answer;
    for (const std::string& event : events) answer.body += "event: x\ndata: " + event + "\n\n";
    return answer;
  }
  SystemClock clock_;
};

constexpr const char* kStart =
    R"({"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"output_tokens":1}}})";
constexpr const char* kEnd =
    R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}})";
constexpr const char* kStop = R"({"type":"message_stop"})";

TEST_F(Anthropic, CachesWhatStaysForAnHourAndTheTailForFiveMinutes) {
  FakeHttpServer server(replies(Api::anthropic, {{.text = "Hello.", .cache_write_5m = 11, .cache_write_1h = 22}}));
  const Reply reply = reply_to(*chat_with(server), clock_);
  EXPECT_EQ(reply.usage.cache_write_5m, 11u);
  EXPECT_EQ(reply.usage.cache_write_1h, 22u);
  const Json body = Json::parse(server.last().body);
  const Json hour = {{"type", "ephemeral"}, {"ttl", "1h"}};
  EXPECT_EQ(body["system"][0]["cache_control"], hour);
  EXPECT_EQ(body["tools"].back()["cache_control"], hour);
  EXPECT_FALSE(body["tools"].front().contains("cache_control"));
  EXPECT_EQ(body["cache_control"], Json({{"type", "ephemeral"}}));
  EXPECT_EQ(body["messages"].dump().find("cache_control"), std::string::npos)
      << "marks must not move through the history";
}

TEST_F(Anthropic, AsksForAdaptiveThinkingWithASummaryOnlyWhereItExists) {
  FakeHttpServer server(replies(Api::anthropic, {{.text = "Hello."}}));
  ChatOptions options = quick_options();
  options.effort = "high";
  const auto body_for = [&](const char* model) {
    auto chat = open_chat({"anthropic", model, ""}, {kKey, false, server.url()}, options, clock_);
    return Json::parse((*chat)->next_request());
  };
  const Json body = body_for("claude-opus-5-5");
  EXPECT_EQ(body["thinking"], Json({{"type", "adaptive"}, {"display", "summarized"}}));
  EXPECT_EQ(body["output_config"], Json({{"effort", "high"}}));
  EXPECT_TRUE(body_for("claude-opus-4-6").contains("thinking"));
  for (const char* model :
       {"claude-haiku-4-5-20251001", "claude-sonnet-4-20250514", "claude-3-7-sonnet-latest", "glm-5"}) {
    EXPECT_FALSE(body_for(model).contains("thinking")) << model;
    EXPECT_FALSE(body_for(model).contains("output_config")) << model;
  }
}

TEST_F(Anthropic, SpeaksBothVersions) {
  FakeHttpServer server(replies(Api::anthropic, {{.text = "Hello."}}));
  reply_to(*chat_with(server), clock_);
  EXPECT_EQ(server.last().headers.at("anthropic-version"), "2023-06-01") << "another server may not know the newer one";
  ChatOptions options = quick_options();
  options.anthropic_version = "2026-10-21";
  reply_to(*chat_with(server, options), clock_);
  EXPECT_EQ(server.last().headers.at("anthropic-version"), "2026-10-21");
}

TEST_F(Anthropic, AuthenticatesInOneWay) {
  FakeHttpServer server(replies(Api::anthropic, {{.text = "Hello."}}));
  reply_to(*chat_with(server), clock_);
  EXPECT_EQ(server.last().headers.at("x-api-key"), kKey);
  auto chat = open_chat({"anthropic", "m", ""}, {kKey, true, server.url()}, quick_options(), clock_);
  (*chat)->say("Go.");
  reply_to(**chat, clock_);
  EXPECT_EQ(server.last().headers.at("authorization"), std::string("Bearer ") + kKey);
  EXPECT_FALSE(server.last().headers.contains("x-api-key"));
}

TEST_F(Anthropic, ReturnsEveryKindOfBlockAsItCame) {
  const std::string search = R"({"type":"server_tool_use","id":"s1","name":"web","input":{}})";
  FakeHttpServer server([&](const HeardRequest& request) {
    if (request.number > 0) return answer_with(Api::anthropic, {.text = "Done."}, request);
    return stream(
        {kStart,
         R"({"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"b64=="}})",
         R"({"type":"content_block_stop","index":0})",
         R"({"type":"content_block_start","index":1,"content_block":{"type":"brand_new","z":1,"a":{"k":1.50}}})",
         R"({"type":"content_block_delta","index":1,"delta":{"type":"brand_new_delta","x":1}})",
         R"({"type":"content_block_stop","index":1})",
         R"({"type":"content_block_start","index":2,"content_block":)" + search + "}",
         R"({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\": 1.0,  \"b\":[]}"}})",
         R"({"type":"content_block_stop","index":2})",
         R"({"type":"content_block_start","index":3,"content_block":{"type":"text","text":"","citations":null}})",
         R"({"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"Hi."}})",
         R"({"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"c":1}}})",
         R"({"type":"content_block_stop","index":3})", kEnd, kStop});
  });
  const Reply reply = reply_to(*chat_with(server), clock_);
  EXPECT_EQ(
      reply.raw,
      R"({"role":"assistant","content":[{"type":"redacted_thinking","data":"b64=="},{"type":"brand_new","z":1,"a":{"k":1.5}},)"
      R"({"type":"server_tool_use","id":"s1","name":"web","input":{"q": 1.0,  "b":[]}},)"
      R"({"type":"text","text":"Hi.","citations":[{"c":1}]}]})");
  EXPECT_EQ(reply.ending, Ending::finished);
  EXPECT_EQ(reply.usage.input, 5u);
  EXPECT_EQ(reply.usage.output, 9u) << "cumulative, not a sum";
}

TEST_F(Anthropic, ReportsThinkingThatIsBoundElsewhereInTheServersWords) {
  FakeHttpServer server(replies(Api::anthropic, {{.thinking = "Hm.", .text = "Hello."}}));
  const auto chat = chat_with(server);
  reply_to(*chat, clock_);
  std::string saved = chat->save();
  saved.replace(saved.find("Go."), 3, "No.");
  const auto altered = open(Api::anthropic, server.url(), clock_);
  ASSERT_TRUE(altered->restore(saved));
  altered->say("And?");
  const CallFailure failure = failure_of(*altered, clock_);
  EXPECT_EQ(failure.kind, CallFailure::Kind::bad_request);
  EXPECT_NE(failure.what.find("bound to a different conversation"), std::string::npos) << failure.what;
  EXPECT_EQ(server.heard().size(), 2u) << "trying again never helps";
}

TEST_F(Anthropic, SendsTheSameAgainAfterAPause) {
  FakeHttpServer server([&](const HeardRequest& request) {
    if (request.number == 0)
      return answer_with(Api::anthropic, {.text = "One moment", .ending = "pause_turn"}, request);
    return stream({kStart, R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Done."}})",
                   R"({"type":"content_block_stop","index":0})", kEnd, kStop});
  });
  const auto chat = chat_with(server);
  EXPECT_EQ(reply_to(*chat, clock_).ending, Ending::paused);
  EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
  const Json messages = Json::parse(server.last().body)["messages"];
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[1]["content"][0]["text"], "One moment");
}

TEST_F(Anthropic, TellsTheCategoryOfARefusal) {
  FakeHttpServer server(replies(Api::anthropic, {{.ending = "refusal", .detail = "No."}}));
  const Reply reply = reply_to(*chat_with(server), clock_);
  EXPECT_EQ(reply.ending, Ending::refused);
  EXPECT_EQ(reply.detail, "frontier_llm: No.");
}

TEST_F(Anthropic, SaysWhenTheWindowIsFull) {
  FakeHttpServer server(replies(
      Api::anthropic, {{.text = "So far", .calls = {{"c", "compile"}}, .ending = "model_context_window_exceeded"}}));
  const Reply reply = reply_to(*chat_with(server), clock_);
  EXPECT_EQ(reply.ending, Ending::context_full);
  EXPECT_TRUE(reply.calls.empty());
}

TEST_F(Anthropic, NeverReturnsACallWhoseBlockDidNotEnd) {
  int number = 0;
  FakeHttpServer server([&](const HeardRequest& request) {
    if (number++ > 0) return answer_with(Api::anthropic, {.text = "Done."}, request);
    return stream(
        {kStart,
         R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"compile","input":{}}})",
         R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"source\":"}})",
         kEnd, kStop});
  });
  const Reply reply = reply_to(*chat_with(server), clock_);
  EXPECT_TRUE(reply.calls.empty());
  EXPECT_EQ(reply.text, "Done.");
  EXPECT_EQ(number, 2);
}

TEST_F(Anthropic, KeepsBrokenArgumentsAsTheyAreAndSendsThemBackAsJson) {
  FakeHttpServer server([&](const HeardRequest& request) {
    if (request.number > 0) return answer_with(Api::anthropic, {.text = "Done."}, request);
    return stream(
        {kStart,
         R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"compile","input":{}}})",
         R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": nope"}})",
         R"({"type":"content_block_stop","index":0})", kEnd, kStop});
  });
  const auto chat = chat_with(server);
  const Reply reply = reply_to(*chat, clock_);
  ASSERT_EQ(reply.calls.size(), 1u);
  EXPECT_EQ(reply.calls[0].arguments, "{\"a\": nope");
  chat->answer({{reply.calls[0].id, "these arguments are no JSON", true}}, "");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
}

TEST_F(Anthropic, ReadsAReplyThatIsNotStreamed) {
  FakeHttpServer server([](const HeardRequest&) {
    return Answer{
        .headers = {{"content-type", "application/json"}},
        .body = R"({"type":"message","model":"m","role":"assistant","stop_reason":"tool_use","content":[)"
                R"({"type":"text","text":"Hi."},{"type":"tool_use","id":"a","name":"compile","input":{"b":1,"a":2}}],)"
                R"("usage":{"input_tokens":3,"output_tokens":4}})"};
  });
  const Reply reply = reply_to(*chat_with(server), clock_);
  EXPECT_EQ(reply.text, "Hi.");
  ASSERT_EQ(reply.calls.size(), 1u);
  EXPECT_EQ(reply.calls[0].arguments, R"({"b":1,"a":2})");
  EXPECT_EQ(reply.usage.output, 4u);
}

}  // namespace
}  // namespace onelaunch::llm
