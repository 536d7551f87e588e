#include "tasks/parse_json.h"

#include <nlohmann/json.hpp>

namespace onelaunch::tasks {
namespace {

constexpr std::size_t kDepthMax = 32;

// Where the lexer is. It has read one character beyond a number, and none beyond any other token.
struct Cursor {
  int line = 1, column = 0;
  bool at_line_end = false;
};

// Feeds the text to the parser and keeps the cursor; the parser copies its iterators, so the cursor lies outside.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Cursor* cursor) : at_(at), cursor_(cursor) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (cursor_->at_line_end) {
      ++cursor_->line;
      cursor_->column = 0;
    }
    ++cursor_->column;
    cursor_->at_line_end = *at_ == '\n';
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Cursor* cursor_;
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string file, const Cursor& cursor) : file_(std::move(file)), cursor_(cursor) {}

  bool null() override { return add({.kind = JsonNode::Kind::null}); }
  bool boolean(bool) override { return add({.kind = JsonNode::Kind::boolean}); }
  bool number_integer(number_integer_t value) override { return add_integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return refuse("a number above 2^63 - 1");
    return add_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add({.kind = JsonNode::Kind::number, .number = value});
  }
  bool string(string_t& value) override { return add({.kind = JsonNode::Kind::string, .text = value}); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    if (open_.back()->find(value) != nullptr)
      return refuse("the field \"" + value +
                    "\" is given twice. Rule: a field appears once in its object. Fix: remove one");
    open_.back()->members.push_back({value, cursor_.line, {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override {
    std::string what = error.what();
    const std::size_t colon = what.find(": ");
    if (colon != std::string::npos) what.erase(0, colon + 2);
    const std::string message =
        "column " + std::to_string(cursor_.column) + ": not valid JSON: " + what +
        ". Rule: a task file is strict JSON (no comments, no trailing commas). Fix: correct the "
        "text at or just before this place";
    return refuse(message);
  }

  Result<JsonNode> take() {
    if (!error_.empty()) return invalid(error_);
    return std::move(root_);
  }

 private:
  bool refuse(const std::string& what) {
    if (error_.empty()) error_ = file_ + ":" + std::to_string(cursor_.line) + ": " + what + ".";
    return false;
  }
  bool add_integer(std::int64_t value) {
    return add({.kind = JsonNode::Kind::integer, .integer = value, .number = static_cast<double>(value)});
  }
  bool add(JsonNode node) { return place(std::move(node)) != nullptr; }

  JsonNode* place(JsonNode node) {
    node.line = cursor_.line;
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    JsonNode& parent = *open_.back();
    if (parent.kind == JsonNode::Kind::array) return &parent.items.emplace_back(std::move(node));
    parent.members.back().value = std::move(node);
    return &parent.members.back().value;
  }
  // Pointers to open nodes stay valid: a vector only grows while its last element is closed.
  bool open(JsonNode::Kind kind) {
    if (open_.size() == kDepthMax) return refuse("nested deeper than 32 levels");
    open_.push_back(place({.kind = kind}));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string file_;
  const Cursor& cursor_;
  JsonNode root_;
  std::vector<JsonNode*> open_;
  std::string error_;
};

}  // namespace

const JsonMember* JsonNode::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member;
  return nullptr;
}

const char* describe(JsonNode::Kind kind) {
  static constexpr const char* kNames[] = {"null",     "a truth value", "an integer", "a number",
                                           "a string", "a list",        "an object"};
  return kNames[static_cast<int>(kind)];
}

Result<JsonNode> read_json(const std::string& text, const std::string& file) {
  Cursor cursor;
  TreeBuilder builder(file, cursor);
  const CountingIterator begin(text.data(), &cursor), end(text.data() + text.size(), &cursor);
  nlohmann::json::sax_parse(begin, end, &builder);
  return builder.take();
}

}  // namespace onelaunch::tasks
