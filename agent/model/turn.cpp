#include "agent/model/turn.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<UserTurn::Kind, const char*>, 5> kKinds{{{UserTurn::Kind::open, "open"},
                                                                        {UserTurn::Kind::restart, "restart"},
                                                                        {UserTurn::Kind::answer, "answer"},
                                                                        {UserTurn::Kind::say, "say"},
                                                                        {UserTurn::Kind::again, "again"}}};
constexpr std::array kEndings{llm::Ending::tool_calls, llm::Ending::finished, llm::Ending::cut_off,
                              llm::Ending::paused,     llm::Ending::refused,  llm::Ending::context_full};

const char* name_of(UserTurn::Kind kind) {
  for (const auto& [value, name] : kKinds)
    if (value == kind) return name;
  return "open";
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class T, class Read>
Result<T> parsed(const std::string& text, const char* what, Read read) {
  try {
    T value;
    read(Json::parse(text), value);
    return value;
  } catch (const Json::exception& error) {
    return invalid(std::string(what) + " in the trace is broken: " + error.what());
  }
}

void read_user(const Json& json, UserTurn& turn) {
  const auto kind = json.at("kind").get<std::string>();
  for (const auto& [value, name] : kKinds)
    if (kind == name) turn.kind = value;
  turn.text = json.value("text", "");
  turn.judged = json.value("judged", std::size_t{0});
  turn.settings = json.value("settings", "");
  turn.marks = json.value("marks", std::vector<std::string>());
  for (const Json& output : json.value("outputs", Json::array()))
    turn.outputs.push_back({.call_id = output.at("call_id").get<std::string>(),
                            .sha256 = output.at("sha256").get<std::string>(),
                            .error = output.value("error", false)});
}

void read_model(const Json& json, ModelTurn& turn) {
  const auto ending = json.at("ending").get<std::string>();
  for (const llm::Ending value : kEndings)
    if (ending == llm::name_of(value)) turn.ending = value;
  turn.detail = json.value("detail", "");
  turn.text = json.value("text", "");
  turn.reasoning = json.value("reasoning", "");
  turn.request_id = json.value("request_id", "");
  turn.context_tokens = json.value("context_tokens", std::uint64_t{0});
  turn.estimated = json.value("estimated", false);
  for (const Json& call : json.value("calls", Json::array()))
    turn.calls.push_back({.id = call.at("id").get<std::string>(),
                          .name = call.at("name").get<std::string>(),
                          .arguments = call.at("arguments").get<std::string>()});
  const Json& history = json.at("history");
  turn.history = {.kept = history.at("kept").get<std::size_t>(),
                  .added = history.at("added").get<std::string>(),
                  .sha256 = history.at("sha256").get<std::string>()};
}

}  // namespace

std::string print(const UserTurn& turn) {
  Json json;
  json["kind"] = name_of(turn.kind);
  if (!turn.text.empty()) json["text"] = turn.text;
  for (const UserTurn::Output& output : turn.outputs)
    json["outputs"].push_back({{"call_id", output.call_id}, {"sha256", output.sha256}, {"error", output.error}});
  if (!turn.marks.empty()) json["marks"] = turn.marks;
  json["judged"] = turn.judged;
  if (!turn.settings.empty()) json["settings"] = turn.settings;
  return dumped(json);
}

Result<UserTurn> parse_user_turn(const std::string& text) {
  return parsed<UserTurn>(text, "a turn that was said", read_user);
}

HistoryStep step_between(const std::string& before, const std::string& after) {
  const auto [end, ignored] = std::ranges::mismatch(before, after);
  std::size_t kept = static_cast<std::size_t>(end - before.begin());
  // A JSON text of valid UTF-8 must be cut between characters to stay one.
  while (kept > 0 && kept < after.size() && (static_cast<unsigned char>(after[kept]) & 0xC0) == 0x80) --kept;
  return {.kept = kept, .added = after.substr(kept), .sha256 = sha256_hex(after)};
}

Result<std::string> taken(const std::string& before, const HistoryStep& step) {
  if (step.kept > before.size()) return invalid("the conversation in the trace has a gap");
  std::string after = before.substr(0, step.kept) + step.added;
  if (sha256_hex(after) != step.sha256) return invalid("the conversation in the trace is not what it was");
  return after;
}

ModelTurn model_turn(const llm::Reply& reply, HistoryStep history) {
  const llm::Usage& use = reply.usage;
  return {.ending = reply.ending,
          .detail = reply.detail,
          .text = reply.text,
          .reasoning = reply.reasoning,
          .calls = reply.calls,
          .request_id = reply.request_id,
          .context_tokens = use.input + use.cache_read + use.cache_write_5m + use.cache_write_1h + use.output,
          .estimated = !use.known,
          .history = std::move(history)};
}

std::string print(const ModelTurn& turn) {
  Json json;
  json["ending"] = llm::name_of(turn.ending);
  if (!turn.detail.empty()) json["detail"] = turn.detail;
  json["text"] = turn.text;
  if (!turn.reasoning.empty()) json["reasoning"] = turn.reasoning;
  for (const llm::ToolCall& call : turn.calls)
    json["calls"].push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  if (!turn.request_id.empty()) json["request_id"] = turn.request_id;
  json["context_tokens"] = turn.context_tokens;
  if (turn.estimated) json["estimated"] = true;
  json["history"] = {{"kept", turn.history.kept}, {"added", turn.history.added}, {"sha256", turn.history.sha256}};
  return dumped(json);
}

Result<ModelTurn> parse_model_turn(const std::string& text) {
  return parsed<ModelTurn>(text, "a turn that was answered", read_model);
}

}  // namespace onelaunch::agent
