#pragma once
// What the readers of a task file share: the first complaint with its line, the names in scope, typed access to fields.

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "tasks/parse_expression.h"
#include "tasks/parse_json.h"

namespace onelaunch::tasks {

// Complaints do not stop a reader: it goes on with a default, and the first complaint is what the user sees.
class ParseContext {
 public:
  explicit ParseContext(std::string file) : file_(std::move(file)) {}

  void complain(int line, const std::string& what, const std::string& rule, const std::string& fix);
  bool failed() const { return first_.has_value(); }
  Error error() const { return *first_; }
  const std::string& file() const { return file_; }

  // `node` must be an object whose members are all in `known`; `owner` is "a weight" or the like.
  bool object_of(const JsonNode& node, const std::string& owner, std::initializer_list<const char*> known);
  const JsonNode* required(const JsonNode& object, const std::string& owner, const char* field);
  bool is(const JsonNode& node, JsonNode::Kind kind, const std::string& what);

  std::string text(const JsonNode& node, const std::string& what);                          // a string
  std::string paragraph(const JsonNode& node, const std::string& what);                     // or a list of them
  std::string name(const JsonNode& node, const Names& names, const std::string& what);      // with {expressions}
  std::int64_t integer(const JsonNode& node, const Names& names, const std::string& what);  // or an expression
  double number(const JsonNode& node, const std::string& what);

  // Calls `each` for every entry of a list, with {"for", "each"} repeated and its indices in `names`.
  using Each = std::function<void(const JsonNode& entry, const Names& names)>;
  void entries(const JsonNode& list, const Names& names, const std::string& what, const Each& each);

 private:
  void repeat(const JsonNode& entry, std::size_t index, const Names& names, const std::string& what, const Each& each);

  std::string file_;
  std::optional<Error> first_;
  int entries_ = 0;
};

// The word of `known` that `word` was most likely meant to be; empty when none is close.
std::string closest(const std::string& word, std::initializer_list<const char*> known);

bool is_identifier(std::string_view word);

}  // namespace onelaunch::tasks
