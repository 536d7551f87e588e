#include "agent/external/tool_message.h"

#include <nlohmann/json.hpp>

namespace onelaunch::agent {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kVersion = "onelaunch.tools/1";

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<Json> parsed(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid("a JSON object was expected");
  const auto version = json.find("v");
  if (version == json.end() || *version != kVersion) return invalid(std::string("the message's `v` must be ") + kVersion);
  return json;
}

// Of a field that must be there.
template <class T>
Result<T> read(const Json& json, T (*take)(const Json&)) {
  try {
    return take(json);
  } catch (const Json::exception& error) {
    return invalid(std::string("the message is malformed: ") + error.what());
  }
}

Offer take_offer(const Json& json) {
  Offer offer{.instructions = json.at("instructions").get<std::string>(), .task = json.at("task").get<std::string>()};
  for (const Json& tool : json.at("tools"))
    offer.tools.push_back({.name = tool.at("name").get<std::string>(),
                           .description = tool.at("description").get<std::string>(),
                           .schema = tool.at("schema").dump(),
                           .slow = tool.at("slow").get<bool>()});
  return offer;
}

ToolAnswer take_answer(const Json& json) {
  return {.text = json.at("text").get<std::string>(), .error = json.value("error", false), .finished = json.value("finished", false)};
}

}  // namespace

bool is_tool_message(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && (json.contains("tool") || json.contains("tools"));
}

std::string print(const OfferRequest&) { return dumped({{"v", kVersion}, {"tools", true}}); }

std::string print(const ToolRequest& request) {
  Json arguments = request.arguments.empty() ? Json::object() : Json::parse(request.arguments, nullptr, false);
  // What is no JSON goes as a text: the tool says what is wrong with it.
  if (arguments.is_discarded()) arguments = request.arguments;
  return dumped({{"v", kVersion}, {"tool", request.name}, {"arguments", std::move(arguments)}});
}

Result<std::variant<OfferRequest, ToolRequest>> parse_tool_request(std::string_view text) {
  const Result<Json> json = parsed(text);
  if (!json) return because(json.error());
  if (json->contains("tools")) return OfferRequest{};
  const auto name = json->find("tool");
  if (name == json->end() || !name->is_string()) return invalid("`tool` must be the name of a tool");
  ToolRequest request{.name = name->get<std::string>()};
  if (const auto arguments = json->find("arguments"); arguments != json->end() && !arguments->is_null())
    request.arguments = arguments->is_string() ? arguments->get<std::string>() : dumped(*arguments);
  return request;
}

std::string print(const Offer& offer) {
  Json tools = Json::array();
  for (const Tool& tool : offer.tools)
    tools.push_back({{"name", tool.name},
                     {"description", tool.description},
                     {"schema", Json::parse(tool.schema, nullptr, false)},
                     {"slow", tool.slow}});
  return dumped({{"v", kVersion}, {"instructions", offer.instructions}, {"task", offer.task}, {"tools", std::move(tools)}});
}

std::string print(const ToolAnswer& answer) {
  return dumped({{"v", kVersion}, {"text", answer.text}, {"error", answer.error}, {"finished", answer.finished}});
}

Result<Offer> parse_offer(std::string_view text) {
  return parsed(text).and_then([](const Json& json) { return read<Offer>(json, take_offer); });
}

Result<ToolAnswer> parse_tool_answer(std::string_view text) {
  return parsed(text).and_then([](const Json& json) { return read<ToolAnswer>(json, take_answer); });
}

}  // namespace onelaunch::agent
