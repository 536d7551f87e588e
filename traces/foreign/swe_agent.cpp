#include "traces/foreign/readers.h"

namespace onelaunch::traces::foreign {
namespace {

using Kind = TranscriptStep::Kind;

// Seconds since 1970, as a number or in ISO 8601.
std::optional<double> time_of(const Json& json, const char* key) {
  if (const auto seconds = number(json, key)) return seconds;
  return seconds_of(text(json, key));
}

std::string call_text(const Json& action) {
  if (action.is_string()) return action.get<std::string>();
  const std::string command = text(action, "command");
  return command.empty() ? dumped(action) : command;
}

TokenUse response_use(const Json& usage) {
  TokenUse use{.input = count(usage, "prompt_tokens"),
               .cache_read = count(at(usage, "prompt_tokens_details"), "cached_tokens"),
               .cache_write = {},
               .output = count(usage, "completion_tokens"),
               .reasoning = count(at(usage, "completion_tokens_details"), "reasoning_tokens")};
  if (use.input && use.cache_read) use.input = *use.input > *use.cache_read ? *use.input - *use.cache_read : 0;
  return use;
}

}  // namespace

Transcript swe_agent(const Json& file) {
  TranscriptBuilder builder("SWE-agent trajectory");
  Transcript& made = builder.made();
  made.agent = "swe-agent";
  made.model = text(file, "model");
  const Json& history = at(file, "history");
  for (const Json& message : history.is_array() ? history : Json::array()) {
    if (is(message, "role", "assistant") || is(message, "role", "tool")) break;
    builder.add(is(message, "role", "system") ? Kind::notice : Kind::user, flat(at(message, "content")), {});
  }
  int n = 0;
  for (const Json& step : at(file, "trajectory")) {
    const std::string id = std::to_string(++n);
    if (const std::string thought = text(step, "thought"); !thought.empty()) builder.add(Kind::assistant, thought, {}).turn = id;
    builder.call(id, "shell", text(step, "action"), {});
    builder.result(id, text(step, "observation"), false, {});
    made.steps.back().seconds = number(step, "execution_time");
  }
  const Json& info = at(file, "info");
  const Json& stats = at(info, "model_stats");
  made.ending = text(info, "exit_status");
  made.cost_usd = number(stats, "instance_cost");
  made.use.input = count(stats, "tokens_sent");
  made.use.output = count(stats, "tokens_received");
  return builder.take();
}

Transcript mini_swe_agent(const Json& file) {
  TranscriptBuilder builder("mini-swe-agent trajectory");
  Transcript& made = builder.made();
  made.agent = "mini-swe-agent";
  const Json& info = at(file, "info");
  made.version = text(info, "mini_version");
  made.model = text(at(at(info, "config"), "model"), "model_name");
  int n = 0;
  std::string open;  // the call that the next message answers
  for (const Json& message : at(file, "messages")) {
    const std::string role = text(message, "role");
    const Json& extra = at(message, "extra");
    const std::optional<double> when = time_of(extra, "timestamp");
    if (role == "assistant") {
      const std::string id = std::to_string(++n);
      builder.add(Kind::assistant, flat(at(message, "content")), when).turn = id;
      builder.turn({.id = id, .model = made.model, .use = response_use(at(at(extra, "response"), "usage")), .cost_usd = number(extra, "cost")});
      int k = 0;
      for (const Json& action : at(extra, "actions").is_array() ? at(extra, "actions") : Json::array())
        builder.call(open = id + "." + std::to_string(++k), "bash", call_text(action), when), made.steps.back().turn = id;
    } else if (!open.empty() && (role == "tool" || role == "user")) {
      const auto code = number(extra, "returncode");
      builder.result(open, flat(at(message, "content")), code && *code != 0, when);
      open.clear();
    } else {
      builder.add(role == "system" ? Kind::notice : Kind::user, flat(at(message, "content")), when);
    }
  }
  made.ending = text(info, "exit_status");
  Transcript transcript = builder.take();
  if (const auto cost = number(at(info, "model_stats"), "instance_cost")) {
    transcript.cost_usd = cost;
    std::erase(transcript.lacks, "cost");
  }
  return transcript;
}

}  // namespace onelaunch::traces::foreign
