#include "agent/llm/event_json.h"

#include "agent/llm/json_text.h"
#include "agent/llm/surrogates.h"

namespace onelaunch::llm {
namespace {

// Printing and destroying recurse; no provider nests this deep.
constexpr int kDepthMax = 500;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

const Json& at(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found != object.end() ? *found : none;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<std::uint64_t> count_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_float() && value.get<double>() >= 0 && value.get<double>() < 1e15)
    return static_cast<std::uint64_t>(value.get<double>());
  return std::nullopt;
}

void take_count(const Json& object, const char* key, std::uint64_t& count) {
  if (const auto value = count_at(object, key)) count = *value;
}

EventJson parsed(std::string_view data) {
  if (is_too_deep(data)) return {std::string(), Json(Json::value_t::discarded)};
  EventJson event{std::string(data), Json::parse(data.begin(), data.end(), nullptr, false)};
  if (event.json.is_discarded()) {
    event.text = with_halves_marked(valid_utf8(data));
    event.json = Json::parse(event.text, nullptr, false);
  }
  return event;
}

std::string printed(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace onelaunch::llm
