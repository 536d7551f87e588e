#include "traces/foreign/readers.h"

namespace onelaunch::traces::foreign {
namespace {

using Kind = TranscriptStep::Kind;

std::optional<double> from_ms(std::optional<double> ms) {
  return ms ? std::optional<double>(*ms / 1000) : std::nullopt;
}

void take_tool(TranscriptBuilder& builder, const Json& part, std::optional<double> when) {
  const Json& state = at(part, "state");
  const auto start = from_ms(number(at(state, "time"), "start")), end = from_ms(number(at(state, "time"), "end"));
  const bool failed = is(state, "status", "error");
  const std::string id = text(part, "callID");
  builder.call(id, text(part, "tool"), dumped(at(state, "input")), start ? start : when);
  builder.made().steps.back().turn = text(part, "messageID");
  builder.result(id, flat(at(state, failed ? "error" : "output")), failed, end ? end : when);
}

TranscriptTurn step_of(const Json& part) {
  const Json& tokens = at(part, "tokens");
  return {.id = text(part, "messageID"),
          .model = "",
          .use = {.input = count(tokens, "input"),
                  .cache_read = count(at(tokens, "cache"), "read"),
                  .cache_write = count(at(tokens, "cache"), "write"),
                  .output = count(tokens, "output"),
                  .reasoning = count(tokens, "reasoning")},
          .cost_usd = number(part, "cost")};
}

}  // namespace

Transcript opencode(const Records& records) {
  TranscriptBuilder builder("OpenCode run --format json");
  Transcript& made = builder.made();
  made.agent = "opencode";
  for (const Json& line : records) {
    const std::string type = text(line, "type");
    const Json& part = at(line, "part");
    const std::optional<double> when = from_ms(number(line, "timestamp"));
    if (made.session.empty()) made.session = text(line, "sessionID");
    if (type == "text") {
      const auto start = from_ms(number(at(part, "time"), "start"));
      builder.add(Kind::assistant, text(part, "text"), start ? start : when).turn = text(part, "messageID");
    }
    if (type == "reasoning") builder.add(Kind::reasoning, text(part, "text"), when).turn = text(part, "messageID");
    if (type == "tool_use") take_tool(builder, part, when);
    if (type == "step_finish") {
      builder.turn(step_of(part));
      if (is(part, "reason", "stop")) made.ending = "stop";
    }
    if (type == "error") builder.add(Kind::error, flat(at(at(at(line, "error"), "data"), "message")), when);
  }
  return builder.take();
}

Transcript gemini(const Records& records) {
  TranscriptBuilder builder("Gemini CLI stream-json");
  Transcript& made = builder.made();
  made.agent = "gemini-cli";
  for (const Json& line : records) {
    const std::string type = text(line, "type");
    const std::optional<double> when = seconds_of(text(line, "timestamp"));
    if (type == "init") made.session = text(line, "session_id"), made.model = text(line, "model");
    if (type == "message") {
      const Kind kind = is(line, "role", "user") ? Kind::user : Kind::assistant;
      const bool goes_on = flag(line, "delta") && !made.steps.empty() && made.steps.back().kind == kind;
      if (goes_on) made.steps.back().text += text(line, "content");
      else builder.add(kind, text(line, "content"), when);
    }
    if (type == "tool_use") builder.call(text(line, "tool_id"), text(line, "tool_name"), dumped(at(line, "parameters")), when);
    if (type == "tool_result") {
      const bool failed = !is(line, "status", "success");
      builder.result(text(line, "tool_id"), flat(at(line, failed && line.contains("error") ? "error" : "output")), failed, when);
    }
    if (type == "error") builder.add(Kind::error, text(line, "message"), when);
    if (type != "result") continue;
    const Json& stats = at(line, "stats");
    made.ending = text(line, "status");
    const auto input = count(stats, "input_tokens"), cached = count(stats, "cached");
    made.use = {.input = input, .cache_read = cached, .cache_write = {}, .output = count(stats, "output_tokens"), .reasoning = {}};
    if (input && cached) made.use.input = *input > *cached ? *input - *cached : 0;
    if (const auto ms = number(stats, "duration_ms")) made.duration_s = *ms / 1000;
  }
  return builder.take();
}

}  // namespace onelaunch::traces::foreign
