#include "agent/model/turn.h"

#include <gtest/gtest.h>

namespace onelaunch::agent {
namespace {

TEST(UserTurn, ComesBackAsItWas) {
  const UserTurn turn{.kind = UserTurn::Kind::answer,
                      .text = "half of it\n\"quoted\"",
                      .outputs = {{.call_id = "a", .sha256 = std::string(64, 'b'), .error = true}},
                      .marks = {"time50"},
                      .judged = 7,
                      .settings = "effort high"};
  const Result<UserTurn> read = parse_user_turn(print(turn));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(print(*read), print(turn));
  EXPECT_EQ(read->kind, UserTurn::Kind::answer);
  ASSERT_EQ(read->outputs.size(), 1u);
  EXPECT_TRUE(read->outputs[0].error);
  EXPECT_EQ(read->marks, turn.marks);
  EXPECT_EQ(read->judged, 7u);
  EXPECT_EQ(read->settings, "effort high");
}

TEST(ModelTurn, ComesBackAsItWas) {
  llm::Reply reply;
  reply.ending = llm::Ending::tool_calls;
  reply.text = "I see\xc3\xa9";
  reply.reasoning = "because";
  reply.calls = {{.id = "1", .name = "compile", .arguments = "{}"}, {.id = "2", .name = "notes", .arguments = "{\"text\":\"x\"}"}};
  reply.usage.input = 10, reply.usage.cache_read = 20, reply.usage.cache_write_1h = 5, reply.usage.output = 7, reply.usage.known = true;
  const ModelTurn turn = model_turn(reply, step_between("[1", "[1,2"));
  const Result<ModelTurn> read = parse_model_turn(print(turn));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(print(*read), print(turn));
  EXPECT_EQ(read->calls.size(), 2u);
  EXPECT_EQ(read->context_tokens, 42u);
  EXPECT_EQ(read->ending, llm::Ending::tool_calls);
}

TEST(Turns, RefuseWhatIsNone) {
  for (const char* text : {"", "{", "[]", "{}", "{\"kind\":7}"}) {
    EXPECT_FALSE(parse_user_turn(text)) << text;
    EXPECT_FALSE(parse_model_turn(text)) << text;
  }
}

TEST(HistoryStep, RebuildsEveryHistoryFromItsSteps) {
  const std::vector<std::string> histories{"{\"m\":[\"a\"]}", "{\"m\":[\"a\",\"\xc3\xa4\"]}", "{\"m\":[\"a\",\"\xc3\xb6\",\"b\"]}", "x"};
  std::string before, rebuilt;
  for (const std::string& history : histories) {
    const HistoryStep step = step_between(before, history);
    const Result<std::string> next = taken(rebuilt, step);
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(*next, history);
    before = history, rebuilt = *next;
  }
  EXPECT_LE(step_between(histories[0], histories[1]).added.size(), 8u) << "what was there is not kept twice";
}

TEST(HistoryStep, NeverCutsACharacter) {
  const HistoryStep step = step_between("\"\xc3\xa4\"", "\"\xc3\xb6\"");
  EXPECT_EQ(step.kept, 1u);
}

TEST(HistoryStep, NoticesWhatDoesNotFit) {
  const HistoryStep step = step_between("abc", "abcd");
  EXPECT_FALSE(taken("xbc", step));
  EXPECT_FALSE(taken("a", step));
}

}  // namespace
}  // namespace onelaunch::agent
