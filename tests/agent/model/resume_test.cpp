// A session that is killed and resumed against one that is not.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "agent/model/repetition.h"
#include "tests/agent/model/memory_folder.h"
#include "tests/agent/model/model_rig.h"

namespace onelaunch::agent {
namespace {

using fakes::calls;
using fakes::ends;
using fakes::ScriptedTurn;
using llm::Ending;

std::string evaluate(const std::string& value) { return "{\"note\":\"try " + value + "\",\"defines\":[\"A=" + value + "\"]}"; }

// Says a bit of everything; a conversation that is begun anew included.
llm::SendResult eventful(const ScriptedTurn& turn) {
  if (turn.conversation > 1) {
    if (turn.number == 1) return calls({{"evaluate", evaluate("3")}, {"revert", "{\"id\":\"c0\"}"}});
    return calls({{"finish", "{\"reason\":\"done\"}"}});
  }
  switch (turn.number) {
    case 1:
      return calls({{"read_kernel", "{}"}, {"notes", "{\"text\":\"a note\"}"}});
    case 2:
      return calls({{"evaluate", evaluate("1")}});
    case 3:
      return ends(Ending::finished, "What now?");
    case 4:
      return calls({{"str_replace", "{\"old\":\"megakernel\",\"new\":\"megakernel // faster\"}"}, {"compile", "{}"}});
    case 5:
      return calls({{"evaluate", evaluate("2")}, {"no_such_tool", "{"}});
    case 6:
      return ends(Ending::cut_off, "half");
    default:
      llm::Reply reply = calls({{"history", "{}"}});
      reply.usage = fakes::some_usage(9000, 100);
      return reply;
  }
}

llm::SendResult note_taker(const ScriptedTurn& turn) {
  return calls({{"notes", "{\"text\":\"note " + std::to_string(turn.number) + "\"}"}});
}

struct Rig : ModelRig {
  explicit Rig(const std::filesystem::path& folder) : ModelRig(folder) {
    script = eventful;
    behaviours = {{"1", {.us = 90}}, {"2", {.grade = sandbox::WrongAnswer{"y differs"}}}, {"3", {.us = 80}}};
    options.context_window = 10'000;
    wall_s = 36'000;
  }
};

std::string joined(const Result<UserTurn>& turn, const ModelRig& rig) {
  if (!turn) return turn.error().message;
  std::string text = turn->text + " judged " + std::to_string(turn->judged);
  for (const auto& output : turn->outputs) text += "\n" + output.call_id + (output.error ? "!" : ":") + rig.blob(output.sha256);
  for (const auto& mark : turn->marks) text += " " + mark;
  return text;
}

std::string joined(const Result<ModelTurn>& turn) {
  if (!turn) return turn.error().message;
  std::string text = std::string(llm::name_of(turn->ending)) + " " + turn->text;
  for (const auto& call : turn->calls) text += "\n" + call.id + " " + call.name + " " + call.arguments;
  return text;
}

// What a session did, without times. What every leg does anew at its opening is left out.
struct Teller {
  const ModelRig& rig;
  std::string operator()(const traces::ModelRequest& e) const {
    return "request " + std::to_string(e.turn) + " " + joined(parse_user_turn(rig.blob(e.request_sha256)), rig);
  }
  std::string operator()(const traces::ModelResponse& e) const {
    return "response " + std::to_string(e.turn) + " " + e.stop_reason + " " + std::to_string(e.input_tokens) + " " +
           joined(parse_model_turn(rig.blob(e.response_sha256)));
  }
  std::string operator()(const traces::ToolCall& e) const { return "call " + e.id + " " + e.name + " " + rig.blob(e.arguments_sha256); }
  std::string operator()(const traces::ToolResult& e) const {
    return "result " + e.id + (e.error ? "!" : ":") + rig.blob(e.result_sha256) + " state " + e.state_sha256;
  }
  std::string operator()(const traces::Candidate& e) const {
    return "candidate " + e.id + " of " + e.parent + " " + e.source_sha256 + " " + e.note;
  }
  std::string operator()(const traces::Decision& e) const {
    if (e.candidate == "c0") return "";
    return "decision " + e.candidate + " " + e.verdict + " " + e.outcome + " " + std::to_string(e.us.value_or(0)) + " " + e.reason;
  }
  std::string operator()(const traces::Note& e) const { return e.text.starts_with("the cap") ? "" : "note " + e.text; }
  std::string operator()(const traces::SessionEnd& e) const {
    return "end " + e.reason + " " + e.detail + " " + e.best + " " + std::to_string(e.decisions) + " " + std::to_string(e.kept);
  }
  template <class E>
  std::string operator()(const E&) const {
    return "";
  }
};

std::vector<std::string> story(const ModelRig& rig) {
  std::vector<std::string> lines;
  for (const traces::Record& record : rig.records())
    if (std::string line = std::visit(Teller{rig}, record.event); !line.empty()) lines.push_back(without_times(line));
  return lines;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The run as a process that died after its n-th event leaves it; with `torn` in the middle of the next.
void kill_after(const std::filesystem::path& from, const std::filesystem::path& to, std::size_t n, bool torn) {
  std::filesystem::create_directories(to);
  std::filesystem::copy(from / "blobs", to / "blobs", std::filesystem::copy_options::recursive);
  const std::vector<std::string> lines = lines_of(from / "events.jsonl");
  std::ofstream out(to / "events.jsonl");
  for (std::size_t i = 0; i < n; ++i) out << lines[i] << "\n";
  if (torn) out << lines[n].substr(0, lines[n].size() / 2);
}

TEST(Resume, ASplitRunEqualsAStraightOneWhereverItIsKilled) {
  const MemoryFolder folder;
  Rig straight(folder.path() / "straight");
  const Result<SessionResult> whole = straight.start();
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->best, "c3");
  EXPECT_EQ(straight.log.opened, 2) << "a conversation begun anew is part of the test";
  const std::vector<std::string> expected = story(straight);
  const std::size_t events = straight.records().size();
  ASSERT_GT(events, 60u);
  for (std::size_t n = 1; n < events; ++n) {
    SCOPED_TRACE("killed after event " + std::to_string(n) + ": " + lines_of(straight.run / "events.jsonl")[n - 1].substr(0, 200));
    const std::filesystem::path run = folder.path() / ("split" + std::to_string(n));
    kill_after(straight.run, run, n, n % 3 == 0);
    Rig split(run);
    const Result<SessionResult> result = split.resume();
    ASSERT_TRUE(result) << result.error().message;
    const std::vector<std::string> told = story(split);
    ASSERT_EQ(told.size(), expected.size());
    for (std::size_t i = 0; i < told.size(); ++i) ASSERT_EQ(told[i], expected[i]);
    EXPECT_EQ(result->best, "c3");
    std::filesystem::remove_all(run);
  }
}

TEST(Resume, PaysForNothingTwiceButTheCallInFlight) {
  const MemoryFolder folder;
  Rig straight(folder.path() / "straight");
  ASSERT_TRUE(straight.start());
  const std::vector<traces::Record> records = straight.records();
  for (std::size_t n = 1; n < records.size(); ++n) {
    const std::filesystem::path run = folder.path() / ("split" + std::to_string(n));
    kill_after(straight.run, run, n, false);
    int answered = 0;
    for (std::size_t i = 0; i < n; ++i) answered += std::holds_alternative<traces::ModelResponse>(records[i].event);
    Rig split(run);
    ASSERT_TRUE(split.resume());
    EXPECT_EQ(answered + split.log.sends, straight.log.sends) << "killed after event " << n;
    std::filesystem::remove_all(run);
  }
}

TEST(Resume, CountsWhatEarlierLegsSpent) {
  const MemoryFolder folder;
  Rig rig(folder.path() / "run");
  rig.script = note_taker;
  rig.options.budget.usd = 0.12;
  rig.options.prices = TokenPrices{.input = 5, .output = 50};
  const auto first = rig.start();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->reason, StopReason::budget);
  EXPECT_GE(rig.log.sends, 3);
  Rig same(folder.path() / "run");
  same.script = note_taker;
  same.options = rig.options;
  const auto nothing = same.resume();
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->reason, StopReason::budget);
  EXPECT_EQ(same.log.sends, 0) << "the budget was used up before";
  Rig more(folder.path() / "run");
  more.script = note_taker;
  more.options = rig.options;
  more.options.budget.usd = 0.14;
  const auto second = more.resume();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->reason, StopReason::budget);
  EXPECT_EQ(more.log.sends, 2) << "0.02 more";
}

TEST(Resume, AnotherModelGoesOnWithWhatWasLearnedAndNotWithTheWords) {
  const MemoryFolder folder;
  Rig rig(folder.path() / "run");
  rig.script = note_taker;
  rig.options.budget.tokens = 20'000;
  ASSERT_TRUE(rig.start());
  Rig other(folder.path() / "run");
  other.options.model = "scripted-2";
  other.refuses_history = true;
  const auto result = other.resume();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::finished) << result->detail;
  EXPECT_NE(other.log.said.at(0).find("is begun anew"), std::string::npos);
  EXPECT_NE(other.log.said.at(0).find("note 2"), std::string::npos);
}

TEST(Resume, GoesOnAfterALoopWasEndedWithACleanSlate) {
  const MemoryFolder folder;
  Rig rig(folder.path() / "run");
  rig.script = [](const ScriptedTurn&) { return calls({{"read_kernel", "{}"}}); };
  const auto first = rig.start();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->reason, StopReason::loop);
  Rig again(folder.path() / "run");
  again.script = [](const ScriptedTurn&) { return calls({{"finish", "{\"reason\":\"done\"}"}}); };
  const auto second = again.resume();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->reason, StopReason::finished);
}

}  // namespace
}  // namespace onelaunch::agent
