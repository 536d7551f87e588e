#include "traces/foreign/json_access.h"

#include <cmath>
#include <cstdio>
#include <ctime>

namespace onelaunch::traces::foreign {

const Json& at(const Json& json, const char* key) {
  static const Json nothing;
  if (!json.is_object()) return nothing;
  const auto found = json.find(key);
  return found == json.end() ? nothing : *found;
}

std::string text(const Json& json, const char* key) {
  const Json& value = at(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<double> number(const Json& json, const char* key) {
  const Json& value = at(json, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::optional<std::uint64_t> count(const Json& json, const char* key) {
  const std::optional<double> value = number(json, key);
  if (!value || *value < 0 || *value > 1e15) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

bool flag(const Json& json, const char* key) {
  const Json& value = at(json, key);
  return value.is_boolean() && value.get<bool>();
}

bool is(const Json& json, const char* key, const char* value) { return text(json, key) == value; }

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string flat(const Json& content) {
  if (content.is_null()) return "";
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return dumped(content);
  std::string all;
  for (const Json& block : content) {
    std::string part = block.is_string() ? block.get<std::string>() : text(block, "text");
    if (part.empty()) part = text(block, "content");
    if (part.empty() && block.is_object()) part = "[" + text(block, "type") + "]";
    all += (all.empty() ? "" : "\n") + part;
  }
  return all;
}

std::optional<double> seconds_of(const std::string& iso) {
  std::tm time{};
  double second = 0;
  if (std::sscanf(iso.c_str(), "%4d-%2d-%2d%*1[T ]%2d:%2d:%lf", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
                  &time.tm_min, &second) != 6)
    return std::nullopt;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return static_cast<double>(timegm(&time)) + second;
}

std::string iso_of(double seconds) {
  const auto ms = std::llround(seconds * 1000);
  const auto whole = static_cast<std::time_t>((ms - ((ms % 1000 + 1000) % 1000)) / 1000);
  std::tm time{};
  gmtime_r(&whole, &time);
  char text[48];
  const std::size_t n = std::strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &time);
  std::snprintf(text + n, sizeof text - n, ".%03dZ", static_cast<int>((ms % 1000 + 1000) % 1000));
  return text;
}

}  // namespace onelaunch::traces::foreign
