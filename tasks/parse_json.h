#pragma once
// JSON as a tree that knows the line of every key and value, so that errors in a task file can name it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace onelaunch::tasks {

struct JsonMember;

struct JsonNode {
  enum class Kind { null, boolean, integer, number, string, array, object };
  Kind kind = Kind::null;
  int line = 0;
  std::int64_t integer = 0;
  double number = 0;  // of integers too
  std::string text;
  std::vector<JsonNode> items;      // of an array
  std::vector<JsonMember> members;  // of an object, in file order; keys are unique

  const JsonMember* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  int line = 0;
  JsonNode value;
};

// "a list", "a string", ...: for messages.
const char* describe(JsonNode::Kind kind);

// Fails (invalid_input) with file, line and column. Nesting deeper than 32 and a repeated key are errors too.
Result<JsonNode> read_json(const std::string& text, const std::string& file);

}  // namespace onelaunch::tasks
