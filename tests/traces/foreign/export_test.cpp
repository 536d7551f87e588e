#include "traces/foreign/export.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/blobs.h"

namespace onelaunch::traces {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kSamples{"claude_stream.jsonl", "claude_session.jsonl", "codex_exec.jsonl", "codex_rollout.jsonl",
                                        "opencode.jsonl", "gemini.jsonl", "swe_agent.traj", "mini_swe_agent.traj.json", "mega_run"};

Transcript read(const std::string& name) {
  return read_transcript(std::filesystem::path(ONELAUNCH_SAMPLES) / name).value();
}

TEST(Atif, KeepsItsRulesForEverySample) {
  for (const std::string& name : kSamples) {
    const Transcript transcript = read(name);
    const Json json = Json::parse(print_atif(transcript));
    EXPECT_EQ(json["schema_version"], "ATIF-v1.4");
    int number = 0, calls = 0;
    for (const Json& step : json["steps"]) {
      EXPECT_EQ(step["step_id"], ++number) << name;
      EXPECT_TRUE(std::set<std::string>({"system", "user", "agent"}).contains(step["source"])) << name;
      std::set<std::string> ids;
      for (const Json& call : step.value("tool_calls", Json::array())) {
        EXPECT_TRUE(call["arguments"].is_object());
        ids.insert(call["tool_call_id"]);
        ++calls;
      }
      if (!step.contains("observation")) continue;
      for (const Json& result : step["observation"]["results"])
        EXPECT_TRUE(ids.contains(result["source_call_id"])) << name << ": a result names a call of its own step";
    }
    EXPECT_EQ(calls, transcript.tool_calls()) << name;
    EXPECT_EQ(json["final_metrics"]["total_steps"], number);
  }
}

TEST(Atif, CountsEachAnswerOnce) {
  const Json json = Json::parse(print_atif(read("claude_session.jsonl")));
  std::uint64_t in = 0, out = 0;
  for (const Json& step : json["steps"]) {
    if (!step.contains("metrics")) continue;
    in += step["metrics"]["prompt_tokens"].get<std::uint64_t>();
    out += step["metrics"]["completion_tokens"].get<std::uint64_t>();
  }
  EXPECT_EQ(in, json["final_metrics"]["total_prompt_tokens"]);
  EXPECT_EQ(out, 137u);
  EXPECT_EQ(json["steps"][1]["reasoning_content"], "Look at the workspace first.");
  EXPECT_EQ(json["steps"][1]["message"], "Let me look around.");
}

std::map<std::string, std::string> attributes_of(const Json& span) {
  std::map<std::string, std::string> found;
  for (const Json& attribute : span["attributes"])
    found[attribute["key"]] = attribute["value"].contains("intValue") ? attribute["value"]["intValue"] : attribute["value"]["stringValue"];
  return found;
}

TEST(OpenTelemetry, WritesOneTraceOfNestedSpans) {
  for (const std::string& name : kSamples) {
    const Transcript transcript = read(name);
    const Json json = Json::parse(print_otel(transcript));
    const Json& spans = json["resourceSpans"][0]["scopeSpans"][0]["spans"];
    std::set<std::string> ids;
    int tools = 0;
    for (const Json& span : spans) {
      EXPECT_EQ(span["traceId"], spans[0]["traceId"]);
      EXPECT_EQ(span["traceId"].get<std::string>().size(), 32u);
      EXPECT_TRUE(ids.insert(span["spanId"]).second) << name << ": an id twice";
      EXPECT_LE(std::stoull(span["startTimeUnixNano"].get<std::string>()), std::stoull(span["endTimeUnixNano"].get<std::string>()));
      if (span != spans[0]) { EXPECT_EQ(span["parentSpanId"], spans[0]["spanId"]); }
      tools += attributes_of(span)["gen_ai.operation.name"] == "execute_tool" ? 1 : 0;
    }
    EXPECT_EQ(attributes_of(spans[0])["gen_ai.operation.name"], "invoke_agent");
    EXPECT_EQ(tools, transcript.tool_calls()) << name;
    EXPECT_EQ(print_otel(transcript), print_otel(transcript));
  }
}

TEST(OpenTelemetry, SaysTokensAndFailures) {
  const Json json = Json::parse(print_otel(read("gemini.jsonl")));
  const Json& spans = json["resourceSpans"][0]["scopeSpans"][0]["spans"];
  EXPECT_EQ(attributes_of(spans[0])["gen_ai.usage.input_tokens"], "1200");
  EXPECT_EQ(attributes_of(spans[0])["gen_ai.usage.cache_read.input_tokens"], "200");
  EXPECT_EQ(spans.back()["status"]["code"], 2);
  EXPECT_EQ(attributes_of(spans.back())["error.type"], "_OTHER");
}

class OwnTraceTest : public RunFixture {};

TEST_F(OwnTraceTest, CandidatesBecomeCallsAndDecisionsTheirResults) {
  const std::string answer = store_blob(folder_ / "run", "I will split the sum.").value();
  std::vector<Event> events = small_session({.agent = "anthropic:m"}, some_hash('1'), some_hash('2'));
  events.insert(events.begin() + 6, Event(ModelResponse{.provider = "anthropic", .model = "m", .response_sha256 = answer, .turn = 1,
                                                        .input_tokens = 100, .output_tokens = 20, .cache_read_tokens = 60, .cost_usd = 0.5}));
  const Transcript t = transcript_of_trace(write_run("run", events)).value();
  EXPECT_EQ(t.tool_calls(), 4);
  EXPECT_EQ(t.model, "m");
  EXPECT_EQ(t.use.prompt(), 160u) << "input tokens leave cached ones out";
  EXPECT_EQ(t.cost_usd, 0.5);
  EXPECT_EQ(t.ending, "cap");
  const Json json = Json::parse(print_atif(t));
  std::map<std::string, std::string> results;
  std::string said;
  for (const Json& step : json["steps"]) {
    if (step["source"] == "agent") said += step["message"].get<std::string>();
    if (!step.contains("observation")) continue;
    for (const Json& result : step["observation"]["results"]) results[result["source_call_id"]] = result["content"];
  }
  EXPECT_THAT(said, testing::HasSubstr("I will split the sum."));
  EXPECT_THAT(results["c2"], testing::HasSubstr("keep (passed), 80.00 us, 1.250x of c0"));
  EXPECT_THAT(results["c1"], testing::HasSubstr("wrong_answer"));
}

}  // namespace
}  // namespace onelaunch::traces
