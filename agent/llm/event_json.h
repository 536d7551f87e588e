#pragma once
// Reading a provider's JSON without trusting it: what is missing or of another type reads as empty. Only for the .cpp
// files of this folder: the parser is slow to compile.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace onelaunch::llm {

using Json = nlohmann::ordered_json;  // an object goes back with its members in the order in which they came

const Json& at(const Json& object, const char* key);  // null when there is none
std::string text_at(const Json& object, const char* key);
std::optional<std::uint64_t> count_at(const Json& object, const char* key);
// Sets `count` when the member is a number: of a usage that comes in parts the last one counts.
void take_count(const Json& object, const char* key, std::uint64_t& count);

// An event's data: parsed, and its text as it was parsed. What is no UTF-8 is replaced first.
struct EventJson {
  std::string text;
  Json json;  // discarded when the data is no JSON
};
EventJson parsed(std::string_view data);
std::string printed(const Json& json);  // never throws

}  // namespace onelaunch::llm
