#pragma once
// JSON as text: what a provider sent must go back byte for byte, so it is cut out of the text, never printed anew.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onelaunch::llm {

// A JSON string literal; what is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);
// The text with what is no UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

bool is_json(std::string_view text);
bool is_json_object(std::string_view text);

// The value of a member, as it stands in the text of an object; nothing when there is none. The text must be valid
// JSON.
std::optional<std::string_view> raw_member(std::string_view object, std::string_view key);
// The elements of an array, as they stand in the text, which must be valid JSON.
std::vector<std::string_view> raw_elements(std::string_view array);

// "a,b,c"
std::string joined(const std::vector<std::string>& parts);

}  // namespace onelaunch::llm
