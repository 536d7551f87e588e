#pragma once
// A tool's arguments: what there may be, as JSON Schema for who calls, and as a check of what was sent.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::agent {

struct Field {
  enum class Kind { text, integer, number, list };  // list: of texts
  std::string name;
  Kind kind = Kind::text;
  bool required = false;
  std::string description;
  std::vector<std::string> choices = {};  // of a text; empty: any
  std::int64_t least = 0;                 // of an integer
};

// JSON Schema of an object with these fields; keys sorted.
std::string schema_of(const std::vector<Field>& fields);

// Checked against the fields.
class Arguments {
 public:
  // Empty text stands for no arguments. Fails (invalid_input) with what is wrong and what is expected.
  static Result<Arguments> parse(const std::string& json, const std::vector<Field>& fields);

  bool has(const std::string& name) const { return texts_.contains(name) || numbers_.contains(name) || lists_.contains(name); }
  std::string text(const std::string& name) const;  // empty when absent
  std::optional<std::int64_t> integer(const std::string& name) const;
  std::optional<double> number(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::vector<std::string>> lists_;
};

// "NAME=VALUE" each. Fails (invalid_input) on anything else and on a name that comes twice.
Result<std::map<std::string, std::string>> parse_defines(const std::vector<std::string>& defines);

}  // namespace onelaunch::agent
