#pragma once
// What the fake providers sign and what they reject. Only for fake_model*.cpp.

#include <nlohmann/json.hpp>
#include <string>

namespace onelaunch::fakes {

using Json = nlohmann::ordered_json;

// Of a thinking block: covers system, tools, the messages before the `message`th, the blocks before the `block`th of
// that one, and the thinking itself; not cache marks.
std::string anthropic_signature(const Json& body, std::size_t message, std::size_t block, const std::string& thinking);
// Of a reasoning item: covers instructions, tools and the input before the `item`th.
std::string responses_seal(const Json& body, std::size_t item);
// Of the first call of a turn: covers system, tools and the contents before the `content`th.
std::string gemini_signature(const Json& body, std::size_t content);

std::string anthropic_objection(const Json& body);
std::string responses_objection(const Json& body);
std::string completions_objection(const Json& body);
std::string gemini_objection(const Json& body);

}  // namespace onelaunch::fakes
