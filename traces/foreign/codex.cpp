#include "traces/foreign/readers.h"

namespace onelaunch::traces::foreign {
namespace {

using Kind = TranscriptStep::Kind;

// input_tokens holds the cached ones too.
TokenUse use_of(const Json& usage) {
  TokenUse use{.input = count(usage, "input_tokens"),
               .cache_read = count(usage, "cached_input_tokens"),
               .cache_write = count(usage, "cache_write_input_tokens"),
               .output = count(usage, "output_tokens"),
               .reasoning = count(usage, "reasoning_output_tokens")};
  const std::uint64_t cached = use.cache_read.value_or(0) + use.cache_write.value_or(0);
  if (use.input) use.input = *use.input > cached ? *use.input - cached : 0;
  return use;
}

void take_item(TranscriptBuilder& builder, const Json& item, bool completed) {
  const std::string type = text(item, "type"), id = text(item, "id");
  if (type == "command_execution" || type == "mcp_tool_call" || type == "file_change" || type == "web_search") {
    if (!builder.knows_call(id)) {
      const bool command = type == "command_execution";
      const std::string name = type == "mcp_tool_call" ? text(item, "server") + "." + text(item, "tool") : type;
      const Json& arguments = at(item, type == "mcp_tool_call" ? "arguments" : type == "file_change" ? "changes" : "query");
      builder.call(id, name, command ? text(item, "command") : dumped(arguments), {});
    }
    if (!completed) return;
    const auto exit_code = number(item, "exit_code");
    const bool failed = is(item, "status", "failed") || (exit_code && *exit_code != 0);
    std::string output = text(item, "aggregated_output");
    if (output.empty()) output = flat(at(at(item, "result"), "content"));
    if (output.empty()) output = flat(at(item, "error"));
    builder.result(id, output, failed, {});
    return;
  }
  if (!completed) return;
  if (type == "agent_message") builder.add(Kind::assistant, text(item, "text"), {});
  if (type == "reasoning") builder.add(Kind::reasoning, text(item, "text"), {});
  if (type == "error") builder.add(Kind::error, text(item, "message"), {});
}

void take_response_item(TranscriptBuilder& builder, const Json& item, std::optional<double> when) {
  const std::string type = text(item, "type");
  if (type == "message") {
    const std::string role = text(item, "role");
    builder.add(role == "assistant" ? Kind::assistant : role == "user" ? Kind::user : Kind::notice,
                flat(at(item, "content")), when);
  }
  if (type == "reasoning") builder.add(Kind::reasoning, flat(at(item, "summary")), when);
  if (type == "function_call" || type == "custom_tool_call") {
    const std::string space = text(item, "namespace");
    builder.call(text(item, "call_id"), (space.empty() ? "" : space + ".") + text(item, "name"),
                 flat(at(item, type == "function_call" ? "arguments" : "input")), when);
  }
  if (type == "function_call_output" || type == "custom_tool_call_output") {
    const std::string output = flat(at(item, "output"));
    const std::size_t code = output.find("Process exited with code ");
    const bool failed = code != std::string::npos && output.compare(code + 25, 2, "0\n") != 0;
    builder.result(text(item, "call_id"), output, failed, when);
  }
}

void take_event(TranscriptBuilder& builder, const Json& event, std::optional<double> when) {
  const std::string type = text(event, "type");
  Transcript& made = builder.made();
  // The last total counts: the events repeat, and `info` may be null.
  if (type == "token_count" && at(event, "info").is_object()) made.use = use_of(at(at(event, "info"), "total_token_usage"));
  if (type == "task_complete") {
    made.ending = "task_complete";
    if (const auto ms = number(event, "duration_ms")) made.duration_s = made.duration_s.value_or(0) + *ms / 1000;
  }
  if (type == "turn_aborted") made.ending = "turn_aborted";
  if (type == "error") builder.add(Kind::error, text(event, "message"), when);
}

// A usage record closes what the model said since the one before.
void close_turn(Transcript& made, const std::string& id) {
  for (auto step = made.steps.rbegin(); step != made.steps.rend() && step->turn.empty(); ++step)
    if (step->kind == Kind::assistant || step->kind == Kind::reasoning || step->kind == Kind::tool_call) step->turn = id;
}

}  // namespace

Transcript codex_exec(const Records& records) {
  TranscriptBuilder builder("Codex exec --json");
  Transcript& made = builder.made();
  made.agent = "codex";
  int turn = 0;
  for (const Json& line : records) {
    const std::string type = text(line, "type");
    if (type == "thread.started") made.session = text(line, "thread_id");
    if (type == "item.started" || type == "item.updated") take_item(builder, at(line, "item"), false);
    if (type == "item.completed") take_item(builder, at(line, "item"), true);
    if (type == "turn.completed") {
      builder.turn({.id = std::to_string(++turn), .model = "", .use = use_of(at(line, "usage")), .cost_usd = {}});
      made.ending = type;
    }
    if (type == "turn.failed") made.ending = type, builder.add(Kind::error, flat(at(at(line, "error"), "message")), {});
    if (type == "error") builder.add(Kind::error, text(line, "message"), {});
  }
  return builder.take();
}

Transcript codex_rollout(const Records& records) {
  TranscriptBuilder builder("Codex rollout file");
  Transcript& made = builder.made();
  made.agent = "codex";
  for (const Json& line : records) {
    const std::string type = text(line, "type");
    const Json& payload = at(line, "payload");
    const std::optional<double> when = seconds_of(text(line, "timestamp"));
    if (type == "session_meta") made.session = text(payload, "id"), made.version = text(payload, "cli_version");
    if (type == "turn_context") made.model = text(payload, "model");
    if (type == "response_item") take_response_item(builder, payload, when);
    if (type == "event_msg") take_event(builder, payload, when);
    if (type == "compacted") builder.add(Kind::notice, "the conversation was compacted", when);
    if (type == "token_usage_record") close_turn(made, text(payload, "response_id"));
    if (type == "token_usage_record")
      builder.turn({.id = text(payload, "response_id"), .model = made.model, .use = use_of(at(payload, "usage")), .cost_usd = {}});
  }
  return builder.take();
}

}  // namespace onelaunch::traces::foreign
