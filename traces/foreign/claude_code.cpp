#include "traces/foreign/readers.h"

namespace onelaunch::traces::foreign {
namespace {

using Kind = TranscriptStep::Kind;

TokenUse use_of(const Json& usage) {
  return {.input = count(usage, "input_tokens"),
          .cache_read = count(usage, "cache_read_input_tokens"),
          .cache_write = count(usage, "cache_creation_input_tokens"),
          .output = count(usage, "output_tokens"),
          .reasoning = count(at(usage, "output_tokens_details"), "thinking_tokens")};
}

// One answer of the model is spread over several lines that repeat its id and usage: the turn is counted once.
void take_assistant(TranscriptBuilder& builder, const Json& line, std::optional<double> when) {
  const Json& message = at(line, "message");
  const std::string id = text(message, "id"), model = text(message, "model");
  const bool synthetic = model == "<synthetic>";  // the program's own words, not the model's
  if (!synthetic) builder.turn({.id = id, .model = model, .use = use_of(at(message, "usage")), .cost_usd = {}});
  if (at(message, "content").is_string()) builder.add(Kind::assistant, text(message, "content"), when).turn = id;
  if (!at(message, "content").is_array()) return;
  for (const Json& block : at(message, "content")) {
    const std::string type = text(block, "type");
    if (type == "text") builder.add(synthetic ? Kind::error : Kind::assistant, text(block, "text"), when).turn = id;
    if (type == "thinking") builder.add(Kind::reasoning, text(block, "thinking"), when).turn = id;
    if (type == "tool_use") {
      builder.call(text(block, "id"), text(block, "name"), dumped(at(block, "input")), when);
      builder.made().steps.back().turn = id;
    }
  }
}

void take_user(TranscriptBuilder& builder, const Json& line, std::optional<double> when) {
  const Json& content = at(at(line, "message"), "content");
  if (content.is_string()) builder.add(Kind::user, content.get<std::string>(), when);
  if (!content.is_array()) return;
  for (const Json& block : content) {
    if (is(block, "type", "tool_result"))
      builder.result(text(block, "tool_use_id"), flat(at(block, "content")), flag(block, "is_error"), when);
    else if (is(block, "type", "text")) builder.add(Kind::user, text(block, "text"), when);
  }
}

void take_system(TranscriptBuilder& builder, const Json& line, std::optional<double> when) {
  const std::string subtype = text(line, "subtype");
  Transcript& made = builder.made();
  if (subtype == "init") {
    made.model = text(line, "model");
    made.version = text(line, "claude_code_version");
    made.session = text(line, "session_id");
  }
  if (subtype == "compact_boundary") builder.add(Kind::notice, "the conversation was compacted", when);
  if (subtype == "api_retry")
    builder.add(Kind::notice, "retry " + dumped(at(line, "attempt")) + ": " + flat(at(line, "error")), when);
}

void take_result(TranscriptBuilder& builder, const Json& line) {
  Transcript& made = builder.made();
  made.ending = text(line, "subtype");
  if (const std::string reason = text(line, "terminal_reason"); !reason.empty()) made.ending += ", " + reason;
  made.cost_usd = number(line, "total_cost_usd");
  if (const auto ms = number(line, "duration_ms")) made.duration_s = *ms / 1000;
  made.use = use_of(at(line, "usage"));
  // The same with the subagents' part, which the line's own usage leaves out.
  const Json& models = at(line, "modelUsage");
  if (!models.is_object() || models.empty()) return;
  TokenUse all{.input = 0, .cache_read = 0, .cache_write = 0, .output = 0, .reasoning = {}};
  for (const auto& [model, use] : models.items()) {
    *all.input += count(use, "inputTokens").value_or(0);
    *all.cache_read += count(use, "cacheReadInputTokens").value_or(0);
    *all.cache_write += count(use, "cacheCreationInputTokens").value_or(0);
    *all.output += count(use, "outputTokens").value_or(0);
  }
  made.use = all;
}

}  // namespace

Transcript claude_stream(const Records& records) {
  TranscriptBuilder builder("Claude Code stream-json");
  builder.made().agent = "claude-code";
  for (const Json& line : records) {
    const std::string type = text(line, "type");
    const std::optional<double> when = seconds_of(text(line, "timestamp"));
    if (type == "system") take_system(builder, line, when);
    if (type == "assistant") take_assistant(builder, line, when);
    if (type == "user") take_user(builder, line, when);
    if (type == "result") take_result(builder, line);
  }
  return builder.take();
}

Transcript claude_session(const Records& records) {
  TranscriptBuilder builder("Claude Code session file");
  Transcript& made = builder.made();
  made.agent = "claude-code";
  for (const Json& line : records) {
    const std::string type = text(line, "type");
    const std::optional<double> when = seconds_of(text(line, "timestamp"));
    if (made.session.empty()) made.session = text(line, "sessionId");
    if (made.version.empty()) made.version = text(line, "version");
    if (type == "assistant") take_assistant(builder, line, when);
    if (type == "user") take_user(builder, line, when);
    if (type == "system") take_system(builder, line, when);
  }
  return builder.take();
}

}  // namespace onelaunch::traces::foreign
