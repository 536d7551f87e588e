// What compatible servers do differently, and what only OpenAI's Responses and Gemini do.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/agent/llm/chat_fixture.h"

namespace onelaunch::llm {
namespace {

using Json = nlohmann::json;

class Quirks : public testing::Test {
 protected:
  static std::string chunk(const std::string& delta, const std::string& reason = "null") {
    return R"({"model":"m","choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + reason + "}]}";
  }
  static std::string piece(const std::string& call) { return chunk(R"({"tool_calls":[)" + call + "]}"); }
  static Answer stream(const std::vector<std::string>& events) {
    Answer answer;
    for (const std::string& event : events) answer.body += "data: " + event + "\n\n";
    return answer;
  }
  // What a server that sends these events first has said; then it must take the whole back.
  Reply reply_of(Api api, const std::vector<std::string>& events) {
    FakeHttpServer server([&](const HeardRequest& request) {
      return request.number == 0 ? stream(events) : answer_with(api, {.text = "Done."}, request);
    });
    const auto chat = open(api, server.url(), clock_);
    chat->say("Go.");
    const Reply reply = reply_to(*chat, clock_);
    std::vector<ToolOutput> outputs;
    for (const ToolCall& call : reply.calls) outputs.push_back({call.id, "fine"});
    outputs.empty() ? chat->say("More.") : chat->answer(outputs, "");
    EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
    second_body_ = server.last().body;
    return reply;
  }
  static std::string calls_of(const Reply& reply) {
    std::string text;
    for (const ToolCall& call : reply.calls) text += call.name + call.arguments + ";";
    return text;
  }
  SystemClock clock_;
  std::string second_body_;
};

TEST_F(Quirks, CallsMayComeWhole) {
  const Reply reply = reply_of(
      Api::completions,
      {piece(
           R"({"index":0,"id":"a","function":{"name":"compile","arguments":"{\"x\":1}"}},{"index":1,"id":"b","function":{"name":"evaluate","arguments":"{}"}})"),
       chunk("{}", "\"tool_calls\""), "[DONE]"});
  EXPECT_EQ(calls_of(reply), "compile{\"x\":1};evaluate{};");
}

TEST_F(Quirks, CallsMayLackIndexAndId) {
  const Reply reply = reply_of(
      Api::completions,
      {piece(R"({"function":{"name":"compile","arguments":"{\"x\""}})"), piece(R"({"function":{"arguments":":1}"}})"),
       piece(R"({"function":{"name":"evaluate","arguments":"{\"y\":2}"}})"), chunk("{}", "\"stop\"")});
  EXPECT_EQ(calls_of(reply), "compile{\"x\":1};evaluate{\"y\":2};") << "and the reason may be a lie";
  EXPECT_EQ(reply.ending, Ending::tool_calls);
  EXPECT_NE(reply.calls[0].id, reply.calls[1].id);
}

TEST_F(Quirks, ParallelCallsMayShareAnIndex) {
  const Reply reply =
      reply_of(Api::completions, {piece(R"({"index":0,"id":"a","function":{"name":"compile","arguments":"{}"}})"),
                                  piece(R"({"index":0,"id":"b","function":{"name":"evaluate","arguments":"{\"y\":"}})"),
                                  piece(R"({"index":0,"id":"b","function":{"arguments":"2}"}})"),
                                  piece(R"({"index":0,"id":"","function":{"name":"compile","arguments":"{\"z\":3}"}})"),
                                  chunk("{}", "\"tool_calls\"")});
  EXPECT_EQ(calls_of(reply), "compile{};evaluate{\"y\":2};compile{\"z\":3};");
}

TEST_F(Quirks, ANameMayBeRepeatedInEveryPiece) {
  const Reply reply =
      reply_of(Api::completions,
               {piece(R"({"index":0,"id":"a","function":{"name":"compile","arguments":""}})"),
                piece(R"({"index":0,"id":"a","function":{"name":"compile","arguments":"{\"x\":"}})"),
                piece(R"({"index":0,"function":{"name":"compile","arguments":"1}"}})"), chunk("{}", "\"tool_calls\"")});
  EXPECT_EQ(calls_of(reply), "compile{\"x\":1};");
}

TEST_F(Quirks, ArgumentsMayBeAnObjectOrNothing) {
  const Reply reply =
      reply_of(Api::completions,
               {piece(R"({"index":0,"id":"a","function":{"name":"compile","arguments":{"b":1,"a":2}}})"),
                piece(R"({"index":1,"id":"b","function":{"name":"evaluate","arguments":null}})"),
                piece(R"({"index":2,"id":"c","function":{"name":"evaluate"}})"), chunk("{}", "\"tool_calls\"")});
  EXPECT_EQ(calls_of(reply), "compile{\"b\":1,\"a\":2};evaluate{};evaluate{};");
}

TEST_F(Quirks, BrokenArgumentsAreToldAndSentBackAsJson) {
  const Reply reply = reply_of(
      Api::completions, {piece(R"({"index":0,"id":"a","function":{"name":"compile","arguments":"{\"x\": oops"}})"),
                         chunk("{}", "\"tool_calls\"")});
  EXPECT_EQ(calls_of(reply), "compile{\"x\": oops;");
}

TEST_F(Quirks, ReasoningHasManyNamesAndGoesBackUnderItsOwn) {
  const std::string call = R"("tool_calls":[{"index":0,"id":"a","function":{"name":"compile","arguments":"{}"}}])";
  EXPECT_EQ(
      reply_of(Api::completions, {chunk(R"({"reasoning_content":"Hm"})"), chunk("{" + call + "}", "\"tool_calls\"")})
          .reasoning,
      "Hm");
  EXPECT_NE(second_body_.find(R"("reasoning_content":"Hm")"), std::string::npos);
  EXPECT_EQ(
      reply_of(Api::completions, {chunk(R"({"reasoning":"Hm"})"), chunk("{" + call + "}", "\"tool_calls\"")}).reasoning,
      "Hm");
  EXPECT_NE(second_body_.find(R"("reasoning":"Hm")"), std::string::npos);
  reply_of(Api::completions, {chunk(R"({"reasoning":"Hm","reasoning_details":[{"z":1, "a":2.50}]})"),
                              chunk("{" + call + R"(,"reasoning_details":[{"s":"x"}]})", "\"tool_calls\"")});
  EXPECT_NE(second_body_.find(R"("reasoning_details":[{"z":1, "a":2.50},{"s":"x"}])"), std::string::npos)
      << second_body_;
}

TEST_F(Quirks, UsageMayBeMissingNullOrOnTheLastChunk) {
  EXPECT_FALSE(reply_of(Api::completions,
                        {chunk(R"({"content":"Hi"})"), chunk("{}", "\"stop\""), R"({"choices":[],"usage":null})"})
                   .usage.known);
  const Reply last = reply_of(
      Api::completions,
      {chunk(R"({"content":"Hi"})"),
       R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}})"});
  EXPECT_TRUE(last.usage.known);
  EXPECT_EQ(last.usage.input, 7u);
  EXPECT_EQ(last.usage.output, 3u);
}

TEST_F(Quirks, TheServersOwnPriceCounts) {
  const Reply reply =
      reply_of(Api::completions,
               {chunk(R"({"content":"Hi"})", "\"stop\""),
                R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"cost":0.0125}})", "[DONE]"});
  EXPECT_EQ(reply.cost_usd, 0.0125);
}

TEST_F(Quirks, AReplyMayComeUnstreamed) {
  FakeHttpServer server([](const HeardRequest&) {
    return Answer{.headers = {{"content-type", "application/json"}},
                  .body =
                      R"({"model":"m","choices":[{"message":{"role":"assistant","content":"Hi.","tool_calls":[)"
                      R"({"id":"a","function":{"name":"compile","arguments":"{}"}}]},"finish_reason":"tool_calls"}],)"
                      R"("usage":{"prompt_tokens":7,"completion_tokens":3}})"};
  });
  const auto chat = open(Api::completions, server.url(), clock_);
  chat->say("Go.");
  const Reply reply = reply_to(*chat, clock_);
  EXPECT_EQ(reply.text, "Hi.");
  EXPECT_EQ(calls_of(reply), "compile{};");
}

TEST_F(Quirks, AStreamMayEndWithoutABlankLineOrDone) {
  FakeHttpServer server([](const HeardRequest&) {
    return Answer{.body = "data: " + chunk(R"({"content":"Hi"})") + "\n\ndata: " + chunk("{}", "\"stop\"")};
  });
  const auto chat = open(Api::completions, server.url(), clock_);
  chat->say("Go.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Hi");
}

TEST_F(Quirks, AServerThatBreaksOffIsAskedAgain) {
  int number = 0;
  FakeHttpServer server([&](const HeardRequest& request) {
    if (number++ == 0) return stream({chunk(R"({"content":"Hi"})"), chunk("{}", "\"error\"")});
    return answer_with(Api::completions, {.text = "Done."}, request);
  });
  const auto chat = open(Api::completions, server.url(), clock_);
  chat->say("Go.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
  EXPECT_EQ(number, 2);
}

TEST_F(Quirks, AnAddressMayHaveAnyPath) {
  FakeHttpServer server(replies(Api::completions, {{.text = "Hi."}}));
  for (const auto& [base, target] : {std::pair{"", "/v1/chat/completions"}, std::pair{"/v1/", "/v1/chat/completions"},
                                     std::pair{"/v1beta/openai", "/v1beta/openai/chat/completions"}}) {
    const auto chat = open(Api::completions, server.url() + base, clock_);
    chat->say("Go.");
    reply_to(*chat, clock_);
    EXPECT_EQ(server.last().target, target);
  }
}

TEST_F(Quirks, ResponsesStoresNothingAndAsksForEncryptedReasoningWhereThereIsAny) {
  ChatOptions options = quick_options();
  options.cache_key = "night-1";
  options.effort = "high";
  const auto body_for = [&](const char* model) {
    return Json::parse((*open_chat({"openai", model, ""}, {kKey}, options, clock_))->next_request());
  };
  const Json body = body_for("gpt-6.2-sol");
  EXPECT_EQ(body["store"], false);
  EXPECT_EQ(body["include"], Json::array({"reasoning.encrypted_content"}));
  EXPECT_EQ(body["reasoning"], Json({{"effort", "high"}, {"summary", "auto"}}));
  EXPECT_EQ(body["prompt_cache_key"], "night-1");
  EXPECT_FALSE(body_for("gpt-4.1").contains("reasoning"));
}

TEST_F(Quirks, ResponsesItemsGoBackByteForByte) {
  const std::string item = R"({"type":"reasoning", "id":"rs", "z":1.50, "summary":[], "encrypted_content":"e"})";
  const std::string call =
      R"({"type":"function_call","call_id":"c","name":"compile","arguments":"{}", "status":"completed"})";
  FakeHttpServer server([&](const HeardRequest& request) {
    if (request.number > 0)
      return Answer{.body =
                        "data: " + std::string(R"({"type":"response.completed","response":{"output":[]}})") + "\n\n"};
    return stream({R"({"type":"response.output_item.done","output_index":0,"item":)" + item + "}",
                   R"({"type":"response.output_item.done","output_index":1,"item":)" + call + "}",
                   R"({"type":"response.completed","response":{"model":"m"}})"});
  });
  const auto chat = open(Api::responses, server.url(), clock_);
  chat->say("Go.");
  const Reply reply = reply_to(*chat, clock_);
  EXPECT_EQ(reply.raw, "[" + item + "," + call + "]");
  chat->answer({{reply.calls[0].id, "ok"}}, "");
  EXPECT_NE(chat->next_request().find("," + item + "," + call + ","), std::string::npos);
}

TEST_F(Quirks, ResponsesFailuresAreSorted) {
  const auto failing = [&](const std::string& code) {
    FakeHttpServer server([&](const HeardRequest&) {
      return stream({R"({"type":"response.failed","response":{"status":"failed","error":{"code":")" + code +
                     R"(","message":"m"}}})"});
    });
    ChatOptions options = quick_options();
    options.limits.retries_max = 1;
    const auto chat = open(Api::responses, server.url(), clock_, options);
    chat->say("Go.");
    const auto reply = chat->send(soon(clock_), nullptr);
    return std::to_string(server.heard().size()) + (reply ? name_of(reply->ending) : name_of(reply.error().kind));
  };
  EXPECT_EQ(failing("server_error"), "2outage");
  EXPECT_EQ(failing("rate_limit_exceeded"), "2outage");
  EXPECT_EQ(failing("insufficient_quota"), "1quota");
  EXPECT_EQ(failing("context_length_exceeded"), "1context_full");
  EXPECT_EQ(failing("bio_policy"), "1refused");
}

TEST_F(Quirks, GeminiCallsMayHaveNoIdsAndComeBackAsTheyWere) {
  FakeHttpServer server([](const HeardRequest&) {
    return stream(
        {R"({"candidates":[{"content":{"role":"model","parts":[{"text":"Hi","thought":true}]}}]})",
         R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"compile","args":{"z":1.50,  "a":[]}},"thoughtSignature":"SIG"}]}}]})",
         R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"evaluate"}}]},"finishReason":"STOP"}]})"});
  });
  const auto chat = open(Api::gemini, server.url(), clock_);
  chat->say("Go.");
  const Reply reply = reply_to(*chat, clock_);
  EXPECT_EQ(calls_of(reply), "compile{\"z\":1.50,  \"a\":[]};evaluate{};");
  ASSERT_EQ(reply.calls.size(), 2u);
  EXPECT_NE(reply.calls[0].id, reply.calls[1].id);
  chat->answer({{reply.calls[1].id, "two", true}, {reply.calls[0].id, "one"}}, "");
  const std::string body = chat->next_request();
  EXPECT_NE(body.find(R"({"functionCall":{"name":"compile","args":{"z":1.50,  "a":[]}},"thoughtSignature":"SIG"})"),
            std::string::npos);
  EXPECT_NE(body.find(R"([{"functionResponse":{"name":"compile","response":{"output":"one"}}},)"
                      R"({"functionResponse":{"name":"evaluate","response":{"error":"two"}}}])"),
            std::string::npos)
      << body;
}

TEST_F(Quirks, GeminiIsAskedAFewTimesAgainWhenItMakesAMistake) {
  FakeHttpServer server([](const HeardRequest&) {
    return stream(
        {R"({"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]})"});
  });
  const auto chat = open(Api::gemini, server.url(), clock_);
  chat->say("Go.");
  EXPECT_EQ(failure_of(*chat, clock_).kind, CallFailure::Kind::outage);
  EXPECT_EQ(server.heard().size(), 4u);
}

TEST_F(Quirks, GeminiMayBlockThePrompt) {
  FakeHttpServer server([](const HeardRequest&) { return stream({R"({"promptFeedback":{"blockReason":"OTHER"}})"}); });
  const auto chat = open(Api::gemini, server.url(), clock_);
  chat->say("Go.");
  const Reply reply = reply_to(*chat, clock_);
  EXPECT_EQ(reply.ending, Ending::refused);
  EXPECT_EQ(reply.detail, "PROMPT_BLOCKED: OTHER");
}

TEST_F(Quirks, NobodyIsBroughtDownBySenselessEvents) {
  const std::vector<std::string> nonsense = {
      "null",
      "[]",
      R"({"choi\u0063es":[{"delta":{"reasoning_details":[1]}}]})",
      R"({"candidates":[{"content":{"parts":[{"function\u0043all":{"name":"x"}}]},"finishReason":"STOP"}]})",
      "1",
      "\"x\"",
      "{\"type\":1}",
      "{\"choices\":{}}",
      "{\"choices\":[1]}",
      "{\"choices\":[{\"delta\":[]}]}",
      R"({"choices":[{"delta":{"tool_calls":[1,{"index":-1,"function":3},{"index":"0","id":7}]}}]})",
      R"({"choices":[{"delta":{"reasoning_details":[]}}]})",
      R"({"candidates":[1]})",
      R"({"candidates":[{"content":{"parts":{}}}]})",
      R"({"candidates":[{"content":{"parts":[1,{"functionCall":{}},{"functionCall":1}]}}]})",
      R"({"usageMetadata":{"promptTokenCount":-5}})",
      R"({"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"x"}})",
      R"({"type":"content_block_start","index":0,"content_block":7})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta"}})",
      R"({"type":"message_start","message":[]})",
      R"({"type":"response.output_item.done","output_index":"a","item":[]})",
      R"({"type":"response.completed","response":3})",
      R"({"type":"response.failed"})",
      std::string(100000, '['),
      R"({"type":"message_delta","usage":{"output_tokens":1e300,"input_tokens":18446744073709551615}})",
      "{\"type\":\"error\"}"};
  for (const Api api : kApis) {
    ChatOptions options = quick_options();
    options.limits.retries_max = 0;
    for (const std::string& event : nonsense) {
      FakeHttpServer server([&](const HeardRequest&) { return stream({event, event}); });
      const auto chat = open(api, server.url(), clock_, options);
      chat->say("Go.");
      (void)chat->send(soon(clock_), nullptr);
    }
  }
}

}  // namespace
}  // namespace onelaunch::llm
