// Conversations with tools through a storm of random faults: whatever the provider does, a call ends, a reply is whole,
// and the history is one that a strict server takes.
#include <gtest/gtest.h>

#include <random>

#include "tests/agent/llm/chat_fixture.h"
#include "tests/fakes/fake_clock.h"

namespace onelaunch::llm {
namespace {

constexpr int kConversations = 12, kTurns = 4;

class Storm : public testing::TestWithParam<Api> {
 protected:
  FakeReply whole_reply(int number) {
    FakeReply reply{.thinking = "Gedanke 核 " + std::to_string(number), .text = "Text 🚀 " + std::to_string(number)};
    if (number % 3 != 0) reply.calls = {{"id_" + std::to_string(number), "compile", R"({"n":[1,"é"]})"}};
    return reply;
  }

  Answer answer(const HeardRequest& request) {
    Answer answer = answer_with(GetParam(), whole_reply(turn_), request);
    if (answer.status != 200) objections_ += answer.body + "\n";
    const std::size_t size = answer.body.size();
    const auto later = [this] { clock_.advance(200); };
    switch (random_() % 13) {
      case 0:
        return error_answer(GetParam(), 529, "overloaded_error", "busy");
      case 1:
        return error_answer(GetParam(), 429, "rate_limit_error", "slow down");
      case 2:
        return {.no_answer = true};
      case 3:
        return {.raw = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"};
      case 4:
        return {.body = error_event(GetParam(), "overloaded_error", "busy")};
      case 5:
        return {.hang_first = true, .tick = later};
      case 6:
        answer.body.resize(random_() % size);
        return answer;
      case 7:
        answer.cut_after = random_() % size;
        return answer;
      case 8:
        answer.cut_after = random_() % size;
        answer.reset = true;
        return answer;
      case 9:
        answer.cut_after = random_() % size;
        answer.hang_after = true;
        answer.tick = later;
        return answer;
      default:
        answer.piece_bytes = 1 + random_() % 200;
        return answer;
    }
  }

  std::mt19937 random_{20261201};
  fakes::FakeClock clock_;
  std::atomic<int> turn_{0};
  std::string objections_;  // written by the server, read when it is gone
  int replies_ = 0, failures_ = 0, retries_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Providers, Storm, testing::ValuesIn(kApis), test_name);

TEST_P(Storm, EndsEveryCallAndKeepsOnlyWholeReplies) {
  for (int conversation = 0; conversation < kConversations; ++conversation) {
    FakeHttpServer server([this](const HeardRequest& request) { return answer(request); });
    const auto chat = open(GetParam(), server.url(), clock_);
    chat->say("Go.");
    for (int turn = 0; turn < kTurns; ++turn, ++turn_) {
      const auto reply = chat->send(Deadline::after(clock_, Seconds(20000)), [&](const Retry& retry) {
        ++retries_;
        clock_.advance(retry.wait_s);
      });
      ++(reply ? replies_ : failures_);
      if (!reply) break;
      std::vector<ToolOutput> outputs;
      for (const ToolCall& call : reply->calls) outputs.push_back({call.id, "fine", turn % 2 == 0});
      outputs.empty() ? chat->say("On.") : chat->answer(outputs, "[time]");
    }
  }
  EXPECT_EQ(objections_, "");
  EXPECT_GT(retries_, kConversations);
  EXPECT_GT(replies_, kConversations) << "failures: " << failures_;
}

}  // namespace
}  // namespace onelaunch::llm
