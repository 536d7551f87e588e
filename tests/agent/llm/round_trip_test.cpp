// What every provider must do, against a server that refuses what the real one refuses.
#include <gtest/gtest.h>

#include "tests/agent/llm/chat_fixture.h"

namespace onelaunch::llm {
namespace {

class EveryProvider : public testing::TestWithParam<Api> {
 protected:
  SystemClock clock_;
};
INSTANTIATE_TEST_SUITE_P(Providers, EveryProvider, testing::ValuesIn(kApis), test_name);

FakeReply asks_twice() {
  return {.thinking = "Größere Kacheln? 核 🚀",
          .text = "Let me \"compile\".\n",
          .calls = {{"call_a", "compile", R"({"source": "a\u00e9\n\"b\"", "n": 1.50})"}, {"call_b", "evaluate", "{}"}},
          .input = 300,
          .cache_read = 1000,
          .output = 70,
          .reasoning = 30};
}

TEST_P(EveryProvider, MakesAFullRoundTripOfTools) {
  FakeHttpServer server(replies(GetParam(), {asks_twice(), {.text = "Done."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Make it fast.");
  const Reply first = reply_to(*chat, clock_);
  EXPECT_EQ(first.ending, Ending::tool_calls);
  EXPECT_EQ(first.text, "Let me \"compile\".\n");
  EXPECT_EQ(first.reasoning, "Größere Kacheln? 核 🚀");
  EXPECT_EQ(first.model, "fake-model-1");
  EXPECT_EQ(first.request_id, "req_0");
  ASSERT_EQ(first.calls.size(), 2u);
  EXPECT_EQ(first.calls[0].name, "compile");
  EXPECT_EQ(first.calls[1].name, "evaluate");
  EXPECT_EQ(first.calls[1].arguments, "{}");

  chat->answer({{first.calls[1].id, "7.5 us"}, {first.calls[0].id, "error: expected ;", true}}, "[time 1 min used]");
  const Reply second = reply_to(*chat, clock_);
  EXPECT_EQ(second.ending, Ending::finished);
  EXPECT_EQ(second.text, "Done.");
  EXPECT_TRUE(second.calls.empty());
  chat->say("Go on.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
}

TEST_P(EveryProvider, HandsOverArgumentsAndResultsUnchanged) {
  FakeHttpServer server(replies(GetParam(), {asks_twice(), {.text = "Done."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Make it fast.");
  const Reply first = reply_to(*chat, clock_);
  ASSERT_EQ(first.calls.size(), 2u);
  // Gemini's arguments come as JSON, not as text: there the fake prints them anew.
  const std::string expected =
      GetParam() == Api::gemini ? R"({"source":"aé\n\"b\"","n":1.5})" : R"({"source": "a\u00e9\n\"b\"", "n": 1.50})";
  EXPECT_EQ(first.calls[0].arguments, expected);
  chat->answer({{first.calls[0].id, "bytes \xff\xfe cut"}, {first.calls[1].id, "tab\there"}}, "");
  reply_to(*chat, clock_);
  const std::string body = server.last().body;
  EXPECT_NE(body.find("tab\\there"), std::string::npos);
  EXPECT_NE(body.find("bytes \xEF\xBF\xBD\xEF\xBF\xBD cut"), std::string::npos) << "what is no UTF-8 is replaced";
}

TEST_P(EveryProvider, CountsTokensAndMoney) {
  FakeReply reply = asks_twice();
  reply.model = model_of(GetParam()) + (GetParam() == Api::anthropic ? "-20261001" : "");
  FakeHttpServer server(replies(GetParam(), {reply}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Make it fast.");
  const Reply first = reply_to(*chat, clock_);
  EXPECT_TRUE(first.usage.known);
  EXPECT_EQ(first.usage.input, 300u);
  EXPECT_EQ(first.usage.cache_read, 1000u);
  EXPECT_EQ(first.usage.output, 70u);
  EXPECT_EQ(first.usage.reasoning, 30u);
  EXPECT_GE(first.seconds, 0);
  switch (GetParam()) {
    case Api::anthropic:
      EXPECT_NEAR(*first.cost_usd, (300 * 4 + 1000 * 0.2 + 70 * 20) / 1e6, 1e-12);
      break;
    case Api::responses:
      EXPECT_NEAR(*first.cost_usd, (300 * 2 + 1000 * 0.1 + 70 * 10) / 1e6, 1e-12);
      break;
    case Api::completions:
      EXPECT_FALSE(first.cost_usd) << "unpriced is not free";
      break;
    case Api::gemini:
      EXPECT_NEAR(*first.cost_usd, (300 * 3 + 1000 * 0.15 + 70 * 15) / 1e6, 1e-12);
      break;
  }
}

TEST_P(EveryProvider, EstimatesTokensThatTheProviderDoesNotTell) {
  FakeHttpServer server(replies(GetParam(), {{.text = std::string(4000, 'x'), .tells_usage = false}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say(std::string(40000, 'y'));
  const Usage usage = reply_to(*chat, clock_).usage;
  EXPECT_FALSE(usage.known);
  EXPECT_GT(usage.input, 10000u);
  EXPECT_LT(usage.input, 12000u);
  EXPECT_GT(usage.output, 1000u);
  EXPECT_LT(usage.output, 1200u);
}

TEST_P(EveryProvider, BeginsEveryRequestWithTheBytesOfTheOneBefore) {
  FakeHttpServer server(replies(GetParam(), {asks_twice(), asks_twice(), {.thinking = "Hm.", .text = "Well."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Make it fast.");
  for (int turn = 0; turn < 5; ++turn) {
    EXPECT_EQ(chat->next_request(), chat->next_request());
    const Reply reply = reply_to(*chat, clock_);
    std::vector<ToolOutput> outputs;
    for (const ToolCall& call : reply.calls) outputs.push_back({call.id, "result"});
    if (outputs.empty())
      chat->say("And now?");
    else
      chat->answer(outputs, "[time left]");
  }
  const auto heard = server.heard();
  ASSERT_EQ(heard.size(), 5u);
  for (std::size_t i = 1; i < heard.size(); ++i) {
    const std::string before = heard[i - 1].body.substr(0, heard[i - 1].body.size() - 2);  // without "]}"
    EXPECT_TRUE(heard[i].body.starts_with(before)) << i;
    EXPECT_GT(heard[i].body.size(), heard[i - 1].body.size());
  }
}

TEST_P(EveryProvider, SendsAToolsSchemaByteForByte) {
  FakeHttpServer server(replies(GetParam(), {{.text = "Hello."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Hello.");
  reply_to(*chat, clock_);
  EXPECT_NE(server.last().body.find(R"(:{"type":"object", "properties":{"source":{"type":"string"}}})"),
            std::string::npos);
}

TEST_P(EveryProvider, GivesEveryCallAnIdOfItsOwn) {
  FakeHttpServer server(replies(GetParam(), {{.calls = {{"same", "compile"}, {"other", "compile"}}},
                                             {.calls = {{"same", "compile"}, {"third", "evaluate"}}},
                                             {.text = "Done."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  std::set<std::string> ids;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<ToolOutput> outputs;
    for (const ToolCall& call : reply_to(*chat, clock_).calls) {
      EXPECT_TRUE(ids.insert(call.id).second) << call.id;
      outputs.push_back({call.id, "fine"});
    }
    ASSERT_EQ(outputs.size(), 2u);
    chat->answer(outputs, "");
  }
  EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
}

TEST_P(EveryProvider, AnswersCallsThatWereNotRun) {
  FakeHttpServer server(replies(GetParam(), {asks_twice(), {.text = "I see."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  const Reply first = reply_to(*chat, clock_);
  ASSERT_EQ(first.calls.size(), 2u);
  chat->say("Forget the calls.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "I see.");
  EXPECT_NE(server.last().body.find("was not run"), std::string::npos);
}

TEST_P(EveryProvider, DropsTheCallsOfAReplyThatWasCutOff) {
  FakeReply cut = asks_twice();
  cut.ending = GetParam() == Api::anthropic     ? "max_tokens"
               : GetParam() == Api::responses   ? "max_output_tokens"
               : GetParam() == Api::completions ? "length"
                                                : "MAX_TOKENS";
  FakeHttpServer server(replies(GetParam(), {cut, {.text = "Shorter."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  const Reply first = reply_to(*chat, clock_);
  EXPECT_EQ(first.ending, Ending::cut_off);
  EXPECT_TRUE(first.calls.empty());
  EXPECT_NE(first.raw.find("compile"), std::string::npos);
  chat->say("Write less.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Shorter.");
  EXPECT_NE(server.last().body.find("Let me"), std::string::npos) << "what it said before stays";
  EXPECT_EQ(server.last().body.find("call_a"), std::string::npos);
}

TEST_P(EveryProvider, TellsARefusalAndForgetsIt) {
  FakeReply refusal{.text = "I would rather", .detail = "not about kernels"};
  refusal.ending = GetParam() == Api::anthropic     ? "refusal"
                   : GetParam() == Api::responses   ? "content_filter"
                   : GetParam() == Api::completions ? "content_filter"
                                                    : "SAFETY";
  FakeHttpServer server(replies(GetParam(), {refusal, {.text = "Gladly."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  const Reply first = reply_to(*chat, clock_);
  EXPECT_EQ(first.ending, Ending::refused);
  EXPECT_NE(first.detail.find("not about kernels"), std::string::npos) << first.detail;
  chat->say("Please.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Gladly.");
  EXPECT_EQ(server.last().body.find("I would rather"), std::string::npos);
}

TEST_P(EveryProvider, ResumesWithTheSameBytes) {
  FakeHttpServer server(replies(GetParam(), {asks_twice(), {.text = "Done."}}));
  auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Make it fast.");
  const Reply first = reply_to(*chat, clock_);
  const std::string saved = chat->save();
  ASSERT_EQ(first.calls.size(), 2u);
  chat->answer({{first.calls[0].id, "ok"}, {first.calls[1].id, "ok"}}, "left");
  const std::string straight = chat->next_request();

  chat = open(GetParam(), server.url(), clock_);
  ASSERT_TRUE(chat->restore(saved));
  EXPECT_EQ(chat->save(), saved);
  chat->answer({{first.calls[0].id, "ok"}, {first.calls[1].id, "ok"}}, "left");
  EXPECT_EQ(chat->next_request(), straight);
  EXPECT_EQ(reply_to(*chat, clock_).text, "Done.");
}

TEST_P(EveryProvider, SavesWhatItSavedBeforeAndMore) {
  FakeHttpServer server(replies(GetParam(), {asks_twice(), {.text = "Done."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Make it fast.");
  reply_to(*chat, clock_);
  const std::string before = chat->save();
  chat->say("And?");
  reply_to(*chat, clock_);
  const std::string after = chat->save();
  const auto differs = std::mismatch(before.begin(), before.end(), after.begin()).first;
  EXPECT_LT(before.end() - differs, 250) << "a trace that keeps what was added must not grow with the square of it";
}

TEST_P(EveryProvider, RefusesToResumeAnotherConversation) {
  FakeHttpServer server(replies(GetParam(), {{.text = "Hello."}}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Hello.");
  reply_to(*chat, clock_);
  ChatOptions other = quick_options();
  other.system += " And poems.";
  EXPECT_EQ(open(GetParam(), server.url(), clock_, other)->restore(chat->save()).error().kind,
            Error::Kind::invalid_input);
  for (const std::string& broken : {std::string(), std::string("{}"), chat->save().substr(0, 100)})
    EXPECT_FALSE(open(GetParam(), server.url(), clock_)->restore(broken)) << broken;
}

}  // namespace
}  // namespace onelaunch::llm
