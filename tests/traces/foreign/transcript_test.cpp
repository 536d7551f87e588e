#include "traces/foreign/transcript.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/traces/run_fixture.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
using Kind = TranscriptStep::Kind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

fs::path sample(const std::string& name) { return fs::path(ONELAUNCH_SAMPLES) / name; }

Transcript read(const std::string& name) {
  Result<Transcript> transcript = read_transcript(sample(name));
  EXPECT_TRUE(transcript) << transcript.error().message;
  return transcript ? *transcript : Transcript{};
}

std::vector<std::string> calls(const Transcript& transcript) {
  std::vector<std::string> names;
  for (const TranscriptStep& step : transcript.steps)
    if (step.kind == Kind::tool_call) names.push_back(step.name);
  return names;
}

const TranscriptStep& first(const Transcript& transcript, Kind kind) {
  for (const TranscriptStep& step : transcript.steps)
    if (step.kind == kind) return step;
  static const TranscriptStep none;
  ADD_FAILURE() << "no such step";
  return none;
}

TEST(ClaudeCodeStream, TellsCallsTokensAndCost) {
  const Transcript t = read("claude_stream.jsonl");
  EXPECT_EQ(t.format, "Claude Code stream-json");
  EXPECT_EQ(t.version, "2.1.197");
  EXPECT_EQ(t.model, "claude-opus-5-5");
  EXPECT_THAT(calls(t), ElementsAre("Bash", "mcp__probe__run_check"));
  EXPECT_EQ(first(t, Kind::tool_result).text, "hello-from-bash\n2");
  EXPECT_EQ(t.use.output, 137u);
  EXPECT_EQ(t.cost_usd, 0.010925);
  EXPECT_EQ(t.ending, "success, completed");
  EXPECT_THAT(t.lacks, ElementsAre("times of some steps")) << "the model's lines have none";
}

TEST(ClaudeCodeSession, CountsAnAnswerOnceThoughItsLinesRepeatTheUsage) {
  const Transcript t = read("claude_session.jsonl");
  EXPECT_EQ(t.format, "Claude Code session file");
  ASSERT_EQ(t.turns.size(), 3u);
  EXPECT_EQ(t.use.input, 1500u);
  EXPECT_EQ(t.use.output, 137u);
  EXPECT_THAT(t.lacks, Contains("cost"));
  EXPECT_EQ(t.steps.front().kind, Kind::user);
  EXPECT_EQ(first(t, Kind::reasoning).text, "Look at the workspace first.");
  EXPECT_NEAR(first(t, Kind::tool_result).seconds.value(), 0.08, 0.02);
}

TEST(CodexExec, SaysThatItHasNeitherTimesNorModel) {
  const Transcript t = read("codex_exec.jsonl");
  EXPECT_THAT(calls(t), ElementsAre("command_execution", "probe.run_check"));
  EXPECT_EQ(t.use.input, 900u) << "3900 hold the 3000 cached ones";
  EXPECT_EQ(t.use.cache_read, 3000u);
  EXPECT_EQ(t.use.prompt(), 3900u);
  EXPECT_THAT(t.lacks, ElementsAre("times", "cost", "model"));
  EXPECT_EQ(t.ending, "turn.completed");
}

TEST(CodexRollout, TakesTheLastTotalAndDoesNotDoubleMessages) {
  const Transcript t = read("codex_rollout.jsonl");
  EXPECT_EQ(t.model, "gpt-5.6");
  EXPECT_THAT(calls(t), ElementsAre("exec_command", "mcp__probe.run_check"));
  EXPECT_EQ(t.use.prompt(), 3900u);
  EXPECT_EQ(t.use.output, 120u);
  EXPECT_EQ(t.use.reasoning, 48u);
  EXPECT_EQ(std::count_if(t.steps.begin(), t.steps.end(), [](const auto& s) { return s.text == "All checks pass."; }), 1);
  EXPECT_NEAR(t.duration_s.value(), 1.145, 1e-9);
  ASSERT_EQ(t.turns.size(), 3u);
  EXPECT_EQ(first(t, Kind::tool_call).turn, t.turns[0].id);
}

TEST(OpenCode, HasTheTimesOfItsTools) {
  const Transcript t = read("opencode.jsonl");
  EXPECT_THAT(calls(t), ElementsAre("bash", "probe_run_check"));
  EXPECT_NEAR(first(t, Kind::tool_result).seconds.value(), 0.208, 1e-3);
  EXPECT_EQ(t.use.output, 45u);
  EXPECT_EQ(t.cost_usd, 0.0);
  EXPECT_EQ(t.ending, "stop");
  EXPECT_EQ(t.started.substr(0, 10), "2026-12-01");
}

TEST(GeminiCli, JoinsPiecesOfAMessageAndMarksFailedTools) {
  const Transcript t = read("gemini.jsonl");
  EXPECT_EQ(t.model, "gemini-4-pro");
  EXPECT_EQ(first(t, Kind::assistant).text, "I look around.");
  EXPECT_EQ(t.use.prompt(), 1200u);
  EXPECT_EQ(t.use.cache_read, 200u);
  EXPECT_NEAR(first(t, Kind::tool_result).seconds.value(), 3.5, 1e-6);
  EXPECT_TRUE(t.steps.back().failed);
  EXPECT_THAT(t.figures, ElementsAre("88.1 us/token", "speedup 12.5x"));
}

TEST(SweAgent, ReadsTrajectoriesWithTheirCost) {
  const Transcript t = read("swe_agent.traj");
  EXPECT_EQ(t.tool_calls(), 2);
  EXPECT_EQ(t.steps.back().seconds, 12.5);
  EXPECT_EQ(t.use.output, 700u);
  EXPECT_EQ(t.cost_usd, 0.42);
  EXPECT_EQ(t.ending, "submitted");
  EXPECT_THAT(t.lacks, ElementsAre("times", "model"));
  EXPECT_THAT(t.figures, ElementsAre("geomean 91.5 us"));
}

TEST(MiniSweAgent, ReadsTrajectoriesWithTimes) {
  const Transcript t = read("mini_swe_agent.traj.json");
  EXPECT_EQ(t.model, "anthropic/claude-x");
  EXPECT_THAT(calls(t), ElementsAre("bash", "bash"));
  EXPECT_EQ(first(t, Kind::tool_call).text, "ls");
  EXPECT_TRUE(t.steps.back().failed);
  EXPECT_EQ(t.use.prompt(), 1100u);
  EXPECT_EQ(t.use.output, 60u);
  EXPECT_EQ(t.cost_usd, 0.05);
}

TEST(MegaRun, JoinsTranscriptResultAndLogs) {
  const Transcript t = read("mega_run");
  EXPECT_EQ(t.format, "KernelBench-Mega run, Claude Code stream-json");
  EXPECT_EQ(t.model, "claude-opus-4-8") << "as the run's result names it";
  EXPECT_EQ(t.duration_s, 9000);
  EXPECT_EQ(t.ending, "correct");
  EXPECT_EQ(t.tool_calls(), 2) << "the banner before and the torn line after are passed over";
  EXPECT_THAT(t.figures, ElementsAre("result.json: peak_fraction 0.36", "benchmark.log: ours 91.5 us",
                                     "benchmark.log: speedup over eager 14.4"));
  EXPECT_TRUE(looks_foreign(sample("mega_run")));
}

class TranscriptTest : public RunFixture {
 protected:
  fs::path file(const std::string& content) {
    put(folder_ / "t.jsonl", content);
    return folder_ / "t.jsonl";
  }
};

TEST_F(TranscriptTest, RecognisesByContentAndLeavesTheRestAlone) {
  for (const char* name : {"claude_stream.jsonl", "claude_session.jsonl", "codex_exec.jsonl", "codex_rollout.jsonl",
                           "opencode.jsonl", "gemini.jsonl", "swe_agent.traj", "mini_swe_agent.traj.json"})
    EXPECT_TRUE(looks_foreign(sample(name))) << name;
  EXPECT_FALSE(looks_foreign(file("{\"type\":\"other\"}\nnonsense\n")));
  const Result<Transcript> other = read_transcript(file("{\"type\":\"other\"}\n"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, Error::Kind::invalid_input);
  EXPECT_FALSE(read_transcript(folder_ / "none"));
  EXPECT_FALSE(read_transcript(folder_)) << "an empty folder";
}

TEST_F(TranscriptTest, DoubtsTimesThatOnlyCountLines) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += R"({"type":"user","sessionId":"s","uuid":"u","timestamp":"2026-01-01T00:00:0)" + std::to_string(i) +
            R"(.000Z","message":{"role":"user","content":"x"}})" + "\n";
  const Transcript t = read_transcript(file(text)).value();
  EXPECT_THAT(t.lacks, Contains(HasSubstr("real times")));
  EXPECT_FALSE(t.duration_s);
}

TEST_F(TranscriptTest, SurvivesRecordsOfWrongKinds) {
  const std::string start = R"({"type":"system","subtype":"init","tools":[],"model":5,"session_id":null})";
  const Result<Transcript> t = read_transcript(file(start + R"(
{"type":"assistant","message":[1,2]}
{"type":"assistant","message":{"id":7,"content":[null,"x",{"type":"tool_use","input":[1]}],"usage":"many"}}
{"type":"user","message":{"content":{"a":1}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":3,"content":[{"type":"image"}]}]}}
{"type":"result","usage":[],"modelUsage":{"m":3},"total_cost_usd":"free"}
)"));
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->tool_calls(), 1);
  EXPECT_FALSE(t->cost_usd);
}

TEST_F(TranscriptTest, ShowsATimelineThatSaysWhatIsMissingAndCannotSteerTheTerminal) {
  std::ostringstream out;
  print_transcript(read("gemini.jsonl"), {}, out);
  EXPECT_THAT(out.str(), HasSubstr("Gemini CLI stream-json | gemini-cli | gemini-4-pro"));
  EXPECT_THAT(out.str(), HasSubstr("started 2026-12-01T03:00:00.100Z"));
  EXPECT_THAT(out.str(), HasSubstr("not in this transcript: cost"));
  EXPECT_THAT(out.str(), HasSubstr("nothing in it was checked here"));
  EXPECT_THAT(out.str(), HasSubstr("5.4 s  result    run_shell_command  (3.5 s) context 2048 88.1 us/token"));
  std::ostringstream hostile;
  Transcript t;
  t.steps.push_back({.kind = Kind::tool_result, .t = {}, .text = "\033[2Jgone\nx", .id = "", .name = "", .turn = ""});
  print_transcript(t, {}, hostile);
  EXPECT_THAT(hostile.str(), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace onelaunch::traces
