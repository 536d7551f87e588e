#include "agent/tools/arguments.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace onelaunch::agent {
namespace {

using Json = nlohmann::json;  // sorts its keys

constexpr double kIntegerMax = 1e15;

const char* name_of(Field::Kind kind) {
  switch (kind) {
    case Field::Kind::text:
      return "string";
    case Field::Kind::integer:
      return "integer";
    case Field::Kind::number:
      return "number";
    case Field::Kind::list:
      return "array of strings";
  }
  return "";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "{old: string, new: string}"; what may be left out has a question mark.
std::string expected(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields)
    text += (text.empty() ? "" : ", ") + field.name + (field.required ? ": " : "?: ") + name_of(field.kind);
  return "expected arguments: {" + text + "}";
}

Json schema_of(const Field& field) {
  Json json = {{"description", field.description}};
  json["type"] = field.kind == Field::Kind::list ? "array" : name_of(field.kind);
  if (field.kind == Field::Kind::list) json["items"] = {{"type", "string"}};
  if (field.kind == Field::Kind::integer) json["minimum"] = field.least;
  if (!field.choices.empty()) json["enum"] = field.choices;
  return json;
}

// Models send what they do not set as null, and numbers as texts.
std::optional<double> as_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const Json inner = Json::parse(value.get<std::string>(), nullptr, false);
  return inner.is_number() ? std::optional(inner.get<double>()) : std::nullopt;
}

// NAME=VALUE texts; an object of names and values says the same.
std::optional<std::vector<std::string>> as_list(const Json& value) {
  std::vector<std::string> list;
  if (!value.is_array() && !value.is_object()) return std::nullopt;
  for (const auto& [key, item] : value.items()) {
    const bool word = item.is_string();
    if (!word && !(value.is_object() && item.is_number())) return std::nullopt;
    const std::string text = word ? item.get<std::string>() : item.dump();
    list.push_back(value.is_object() ? key + "=" + text : text);
  }
  return list;
}

}  // namespace

std::string schema_of(const std::vector<Field>& fields) {
  Json json = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  for (const Field& field : fields) {
    json["properties"][field.name] = schema_of(field);
    if (field.required) json["required"].push_back(field.name);
  }
  return json.dump();
}

Result<Arguments> Arguments::parse(const std::string& text, const std::vector<Field>& fields) {
  const auto bad = [&](const std::string& why) { return invalid(why + "; " + expected(fields)); };
  const bool nothing = text.find_first_not_of(" \t\r\n") == std::string::npos;
  const Json json = nothing ? Json::object() : Json::parse(text, nullptr, false);
  if (json.is_discarded()) return bad("the arguments are no valid JSON (" + std::to_string(text.size()) + " bytes; cut off?)");
  if (!json.is_object()) return bad("the arguments must be a JSON object");
  for (const auto& [name, ignored] : json.items())
    if (std::ranges::find(fields, name, &Field::name) == fields.end()) return bad("there is no argument `" + name + "`");
  Arguments arguments;
  for (const Field& field : fields) {
    if (!json.contains(field.name) || json.at(field.name).is_null()) {
      if (field.required) return bad("`" + field.name + "` is missing");
      continue;
    }
    const Json& value = json.at(field.name);
    const auto wrong = [&](const std::string& what) { return bad("`" + field.name + "` must be " + what); };
    if (field.kind == Field::Kind::text) {
      if (!value.is_string()) return wrong("a string");
      std::string word = value.get<std::string>();
      if (!field.choices.empty() && std::ranges::find(field.choices, word) == field.choices.end())
        return wrong("one of: " + joined(field.choices));
      arguments.texts_[field.name] = std::move(word);
    } else if (field.kind == Field::Kind::list) {
      auto list = as_list(value);
      if (!list) return wrong("an array of strings");
      arguments.lists_[field.name] = std::move(*list);
    } else {
      const std::optional<double> number = as_number(value);
      const bool whole = field.kind == Field::Kind::integer;
      if (!number || !std::isfinite(*number)) return wrong(whole ? "an integer" : "a number");
      if (whole && (*number != std::floor(*number) || std::abs(*number) > kIntegerMax)) return wrong("an integer");
      if (whole && *number < static_cast<double>(field.least)) return wrong("at least " + std::to_string(field.least));
      arguments.numbers_[field.name] = *number;
    }
  }
  return arguments;
}

std::string Arguments::text(const std::string& name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? "" : found->second;
}

std::optional<std::int64_t> Arguments::integer(const std::string& name) const {
  const std::optional<double> value = number(name);
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

std::optional<double> Arguments::number(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Arguments::list(const std::string& name) const {
  const auto found = lists_.find(name);
  return found == lists_.end() ? std::vector<std::string>() : found->second;
}

Result<std::map<std::string, std::string>> parse_defines(const std::vector<std::string>& defines) {
  std::map<std::string, std::string> values;
  for (const std::string& define : defines) {
    const std::size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == define.size())
      return invalid("`" + define + "` in `defines` must be NAME=VALUE, such as \"TILE=64\"");
    if (!values.emplace(define.substr(0, equals), define.substr(equals + 1)).second)
      return invalid("`defines` names " + define.substr(0, equals) + " twice");
  }
  return values;
}

}  // namespace onelaunch::agent
