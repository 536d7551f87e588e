#pragma once
// Reading JSON that others wrote: what is missing or of another kind reads as nothing.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "traces/foreign/transcript.h"

namespace onelaunch::traces::foreign {

using Json = nlohmann::json;

const Json& at(const Json& json, const char* key);           // null when absent
std::string text(const Json& json, const char* key);         // empty when absent or no text
std::optional<double> number(const Json& json, const char* key);
std::optional<std::uint64_t> count(const Json& json, const char* key);
bool flag(const Json& json, const char* key);
bool is(const Json& json, const char* key, const char* value);

// A text, a list of {type, text} blocks, or anything else as JSON.
std::string flat(const Json& content);
std::string dumped(const Json& json);

// "2026-12-01T03:01:35.025Z" -> seconds since 1970.
std::optional<double> seconds_of(const std::string& iso);
std::string iso_of(double seconds);

}  // namespace onelaunch::traces::foreign
