// A whole session with a scripted model.
#include <gtest/gtest.h>

#include "tests/agent/model/model_rig.h"
#include "tests/agent/temporary_folder.h"

namespace onelaunch::agent {
namespace {

using fakes::calls;
using fakes::ends;
using fakes::fails;
using fakes::ScriptedTurn;
using llm::CallFailure;
using llm::Ending;

struct ModelSession : testing::Test, ModelRig {
  ModelSession() : ModelRig(std::filesystem::path()) { run = folder.path() / "run"; }

  // What the model answers to its n-th message; afterwards it finishes.
  void answers(std::vector<llm::SendResult> list) {
    script = [list = std::move(list)](const ScriptedTurn& turn) -> llm::SendResult {
      const auto at = static_cast<std::size_t>(turn.number) - 1;
      return at < list.size() ? list[at] : calls({{"finish", "{\"reason\":\"nothing left\"}"}});
    };
  }
  SessionResult ran() {
    const Result<SessionResult> result = start();
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(SessionResult{});
  }
  TemporaryFolder folder;
};

std::string evaluate(const std::string& value) {
  return "{\"note\":\"try " + value + "\",\"predict_us\":90,\"defines\":[\"A=" + value + "\"]}";
}

TEST_F(ModelSession, KeepsWhatTheModelEvaluatesAndFoundFaster) {
  behaviours = {{"1", {.us = 90}}, {"2", {.grade = sandbox::WrongAnswer{"y differs"}}}, {"3", {.us = 80}}};
  answers({calls({{"read_kernel", "{}"}, {"notes", "{\"text\":\"first look\"}"}}), calls({{"evaluate", evaluate("1")}}),
           calls({{"evaluate", evaluate("2")}, {"evaluate", evaluate("3")}})});
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.detail.substr(0, 12), result_of("finish", 1).substr(0, 12));
  EXPECT_EQ(result.best, "c3");
  EXPECT_EQ(result.decisions, 3);
  EXPECT_EQ(result.kept, 2);
  EXPECT_TRUE(result.verified);
  EXPECT_NE(result_of("evaluate", 1).find("y differs"), std::string::npos) << result_of("evaluate", 1);
  const auto start = events<traces::SessionStart>().at(0);
  EXPECT_EQ(start.agent, options.agent);
  EXPECT_EQ(start.prompt_sha256, std::string(64, 'e'));
  EXPECT_EQ(events<traces::ModelRequest>().size(), events<traces::ModelResponse>().size());
  EXPECT_EQ(events<traces::ToolCall>().size(), events<traces::ToolResult>().size());
  EXPECT_DOUBLE_EQ(events<traces::ModelResponse>().at(0).cost_usd.value_or(0), 0.01);
}

TEST_F(ModelSession, TellsTheModelTheTaskTheFloorAndTheKernelFirst) {
  task.prose = "y = w @ x";
  task.rules = "no tricks";
  answers({});
  ran();
  const std::string& first = log.said.at(0);
  for (const char* part : {"y = w @ x", "no tricks", kSeed, "baseline `eager`", "left", "4.71 TB/s"})
    EXPECT_NE(first.find(part), std::string::npos) << part << " is missing in:\n" << first;
}

TEST_F(ModelSession, AsksBackWhenTheModelFinishesEarlyAndTakesTheSecondWord) {
  answers({});
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(log.sends, 2);
  EXPECT_NE(log.said.at(1).find("Not finished yet"), std::string::npos);
}

TEST_F(ModelSession, NudgesAModelThatStopsAndGivesUpOnOneThatNeverCalls) {
  script = [](const ScriptedTurn&) { return ends(Ending::finished, "Shall I go on?"); };
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(log.sends, 1 + options.nudges_max);
  EXPECT_NE(log.said.at(1).find("call a tool"), std::string::npos);
}

TEST_F(ModelSession, SaysThatNothingOfACutOffReplyWasDone) {
  answers({ends(Ending::cut_off, "half a kern")});
  ran();
  EXPECT_NE(log.said.at(1).find("cut off after 32000 tokens"), std::string::npos) << log.said.at(1);
}

TEST_F(ModelSession, EndsWhenEveryReplyIsCutOff) {
  script = [](const ScriptedTurn&) { return ends(Ending::cut_off); };
  EXPECT_EQ(ran().reason, StopReason::loop);
}

TEST_F(ModelSession, SendsTheSameAgainAfterAPauseWithoutAddingToIt) {
  script = [this](const ScriptedTurn& turn) -> llm::SendResult {
    if (log.sends <= 2) return ends(Ending::paused);
    EXPECT_EQ(turn.number, log.sends == 3 ? 1 : 2);
    return calls({{"finish", "{\"reason\":\"done\"}"}});
  };
  ran();
  EXPECT_EQ(log.said.size(), 2u);
}

struct EndCase {
  const char* name;
  llm::SendResult reply;
  StopReason reason;
  int sends;
};

TEST_F(ModelSession, GivesWhatTheProviderEndsItsOwnName) {
  const std::vector<EndCase> cases{
      {"refusal", ends(Ending::refused, "", "frontier_llm: no"), StopReason::model_refused, 2},
      {"key", fails(CallFailure::Kind::authentication, "401: invalid key"), StopReason::authentication, 1},
      {"quota", fails(CallFailure::Kind::quota, "402: no credit"), StopReason::quota, 1},
      {"outage", fails(CallFailure::Kind::outage, "529 for an hour"), StopReason::provider_outage, 1},
      {"request", fails(CallFailure::Kind::bad_request, "400: what?"), StopReason::error, 1},
      {"too long", fails(CallFailure::Kind::context_full, "prompt is too long"), StopReason::context_overflow, 1},
      {"full", ends(Ending::context_full), StopReason::context_overflow, 1}};
  for (const EndCase& end : cases) {
    SCOPED_TRACE(end.name);
    run = folder.path() / end.name;
    log = {};
    script = [&end](const ScriptedTurn&) { return end.reply; };
    const SessionResult result = ran();
    EXPECT_EQ(result.reason, end.reason) << name_of(result.reason) << ": " << result.detail;
    EXPECT_EQ(log.sends, end.sends);
    EXPECT_FALSE(result.detail.empty());
    EXPECT_EQ(result.detail.find('\n'), std::string::npos) << "one line";
    EXPECT_EQ(result.best, "c0");
    EXPECT_TRUE(std::filesystem::exists(run / "best/kernel.cu"));
    EXPECT_EQ(events<traces::SessionEnd>().at(0).reason, name_of(end.reason));
  }
}

TEST_F(ModelSession, TellsAModelThatGoesRoundInCirclesAndEndsInTime) {
  script = [](const ScriptedTurn&) { return calls({{"read_kernel", "{}"}}); };
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::loop);
  EXPECT_EQ(log.sends, RepetitionWatch::kStopAt);
  EXPECT_NE(log.said.at(3).find("same call 3 times"), std::string::npos) << log.said.at(3);
  EXPECT_NE(log.said.at(6).find("different approach"), std::string::npos) << log.said.at(6);
  EXPECT_EQ(log.said.at(4).find("same call"), std::string::npos);
}

TEST_F(ModelSession, DoesNotJudgeTheSameCodeTwice) {
  behaviours = {{"1", {.us = 90}}};
  answers({calls({{"evaluate", evaluate("1")}}), calls({{"evaluate", evaluate("1")}})});
  const SessionResult result = ran();
  EXPECT_EQ(result.decisions, 1);
  EXPECT_NE(result_of("evaluate", 1).find("c1"), std::string::npos) << result_of("evaluate", 1);
}

TEST_F(ModelSession, NeverSpendsMoreThanItsDollars) {
  options.budget.usd = 0.2;
  options.prices = TokenPrices{.input = 5, .output = 50};  // so that a scripted reply costs 0.01
  script = [](const ScriptedTurn& turn) { return calls({{"notes", "{\"text\":\"" + std::to_string(turn.number) + "\"}"}}); };
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::budget);
  EXPECT_NE(result.detail.find("of $0.20"), std::string::npos) << result.detail;
  EXPECT_GE(log.sends, 10) << "of 0.01 each";
  EXPECT_LE(log.sends, 15) << "1024 tokens of output must still be affordable";
  EXPECT_LT(log.output_limits.back(), log.output_limits.front()) << "a long reply would have passed the budget";
  EXPECT_TRUE(std::ranges::any_of(log.said, [](const std::string& text) { return text.find("Half of the budget") != std::string::npos; }));
}

TEST_F(ModelSession, NeverSpendsMoreThanItsTokens) {
  options.budget.tokens = 20'000;
  options.output_tokens_max = 2048;
  script = [](const ScriptedTurn& turn) { return calls({{"notes", "{\"text\":\"" + std::to_string(turn.number) + "\"}"}}); };
  EXPECT_EQ(ran().reason, StopReason::budget);
  std::uint64_t tokens = 0;
  for (const auto& response : events<traces::ModelResponse>()) tokens += response.input_tokens + response.output_tokens;
  EXPECT_LE(tokens, 20'000u);
  EXPECT_GE(tokens, 14'000u);
}

TEST_F(ModelSession, BeginsALongConversationAnewWithEverythingThatMatters) {
  behaviours = {{"1", {.us = 90}}};
  options.context_window = 10'000;
  script = [](const ScriptedTurn& turn) -> llm::SendResult {
    if (turn.conversation > 1) return calls({{"finish", "{\"reason\":\"done\"}"}});
    if (turn.number == 1) return calls({{"notes", "{\"text\":\"dp4a pays off\"}"}});
    if (turn.number == 2) return calls({{"evaluate", evaluate("1")}});
    llm::Reply reply = calls({{"notes", "{\"text\":\"turn " + std::to_string(turn.number) + "\"}"}});
    if (turn.number >= 5) reply.usage = fakes::some_usage(7000, 200);
    return reply;
  };
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::finished);
  ASSERT_EQ(log.opened, 2);
  const std::string& anew = log.said.at(5);
  for (const char* part : {"is begun anew", "dp4a pays off", "turn 5", "| c1 |", "try 1", "megakernel", "best so far: c1"})
    EXPECT_NE(anew.find(part), std::string::npos) << part << " is missing in:\n" << anew;
}

TEST_F(ModelSession, BeginsAnewWhenTheProviderDoesNotTakeTheConversation) {
  bool failed = false;
  script = [&](const ScriptedTurn& turn) -> llm::SendResult {
    if (turn.number == 3 && !failed) return failed = true, fails(CallFailure::Kind::context_full, "prompt is too long");
    if (turn.conversation > 1) return calls({{"finish", "{\"reason\":\"done\"}"}});
    return calls({{"notes", "{\"text\":\"" + std::to_string(turn.number) + "\"}"}});
  };
  EXPECT_EQ(ran().reason, StopReason::finished);
  EXPECT_TRUE(failed);
  EXPECT_EQ(log.opened, 2);
}

TEST_F(ModelSession, SaysWhenHalfOfTheTimeIsUsedAndOnlyOnce) {
  wall_s = 100;
  script = [this](const ScriptedTurn& turn) {
    clock.advance(5);
    return calls({{"notes", "{\"text\":\"" + std::to_string(turn.number) + "\"}"}});
  };
  EXPECT_EQ(ran().reason, StopReason::cap);
  int halves = 0, ninety = 0;
  for (const std::string& text : log.said) {
    halves += text.find("Half of the time") != std::string::npos;
    ninety += text.find("time is nearly used up") != std::string::npos || text.find("90 % of the time") != std::string::npos;
  }
  EXPECT_EQ(halves, 1);
  EXPECT_LE(ninety, 2);
}

TEST_F(ModelSession, EndsAtTheCapAlthoughTheProviderIsSilent) {
  wall_s = 60;
  script = [this](const ScriptedTurn&) -> llm::SendResult {
    clock.advance(1000);
    return fails(CallFailure::Kind::deadline, "no answer in time");
  };
  const SessionResult result = ran();
  EXPECT_EQ(result.reason, StopReason::cap);
  EXPECT_EQ(log.sends, 1);
}

TEST_F(ModelSession, PutsWaitsForTheProviderOnRecordWithTheirTime) {
  bool waited = false;
  before_send = [&](const std::function<void(const llm::Retry&)>& on_retry) {
    if (std::exchange(waited, true)) return;
    for (int i = 1; i <= 2; ++i) {
      on_retry({.number = i, .wait_s = 3, .why = "529 overloaded"});
      clock.advance(3);
    }
  };
  answers({});
  const SessionResult result = ran();
  const auto waits = events<traces::Wait>();
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_DOUBLE_EQ(waits[0].seconds, 3);
  EXPECT_EQ(waits[0].what, "provider: 529 overloaded");
  EXPECT_NEAR(result.attribution_s.at("provider_retry"), 6, 1e-6);
}

TEST_F(ModelSession, StopsWhenItIsAskedTo) {
  script = [this](const ScriptedTurn&) -> llm::SendResult {
    stop.raise();
    return fails(CallFailure::Kind::stopped, "stopped");
  };
  EXPECT_EQ(ran().reason, StopReason::interrupted);
}

}  // namespace
}  // namespace onelaunch::agent
