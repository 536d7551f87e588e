#include "agent/llm/json_text.h"

#include <nlohmann/json.hpp>

namespace onelaunch::llm {
namespace {

using Json = nlohmann::ordered_json;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t after_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// Behind the value that begins at `at`. Counts brackets instead of recursing: the text may be nested to any depth.
std::size_t after_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth, ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      --depth, ++at;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return at;
    } else {
      ++at;
      continue;
    }
    if (depth == 0) return at;
  }
  return at;
}

// Behind the comma, or npos at the end of the object or array.
std::size_t next_item(std::string_view text, std::size_t at) {
  at = after_space(text, at);
  return at < text.size() && text[at] == ',' ? after_space(text, at + 1) : std::string_view::npos;
}

std::size_t first_item(std::string_view text, char open) {
  std::size_t at = after_space(text, 0);
  if (at >= text.size() || text[at] != open) return std::string_view::npos;
  at = after_space(text, at + 1);
  return at < text.size() && text[at] != ']' && text[at] != '}' ? at : std::string_view::npos;
}

}  // namespace

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string valid_utf8(std::string_view text) { return Json::parse(json_string(text)).get<std::string>(); }

bool is_json(std::string_view text) { return Json::accept(text.begin(), text.end()); }

bool is_json_object(std::string_view text) {
  const std::size_t at = after_space(text, 0);
  return at < text.size() && text[at] == '{' && is_json(text);
}

std::optional<std::string_view> raw_member(std::string_view object, std::string_view key) {
  std::optional<std::string_view> found;
  for (std::size_t at = first_item(object, '{'); at < object.size(); at = next_item(object, at)) {
    const std::size_t name_end = after_string(object, at);
    const std::string_view name = object.substr(at, name_end - at);
    at = after_space(object, name_end);
    if (at >= object.size()) break;
    at = after_space(object, at + 1);
    const std::size_t end = after_value(object, at);
    // Of equal names the last one counts, as it does for the parser.
    if (name.size() == key.size() + 2 && name.substr(1, key.size()) == key) found = object.substr(at, end - at);
    at = end;
  }
  return found;
}

std::vector<std::string_view> raw_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  for (std::size_t at = first_item(array, '['); at < array.size(); at = next_item(array, at)) {
    const std::size_t end = after_value(array, at);
    elements.push_back(array.substr(at, end - at));
    at = end;
  }
  return elements;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : ",").append(part);
  return text;
}

}  // namespace onelaunch::llm
