#include "tasks/parse_expression.h"

#include <cctype>

namespace onelaunch::tasks {
namespace {

constexpr int kParenthesesMax = 16;

// sum = product {(+|-) product}; product = atom {(*|/) atom}; atom = integer | name | ( sum ).
class Evaluator {
 public:
  Evaluator(std::string_view text, const Names& names) : text_(text), names_(names) {}

  Result<std::int64_t> whole() {
    const std::int64_t value = sum();
    if (error_.empty() && peek() != '\0') stop(std::string("unexpected '") + peek() + "'");
    if (!error_.empty()) return invalid("in the expression \"" + std::string(text_) + "\": " + error_);
    return value;
  }

 private:
  std::int64_t sum() {
    std::int64_t value = product();
    while (error_.empty() && (peek() == '+' || peek() == '-')) {
      const char sign = text_[at_++];
      const std::int64_t right = product();
      check(sign == '+' ? __builtin_add_overflow(value, right, &value) : __builtin_sub_overflow(value, right, &value));
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = atom();
    while (error_.empty() && (peek() == '*' || peek() == '/')) {
      const char sign = text_[at_++];
      const std::int64_t right = atom();
      if (!error_.empty()) break;
      if (sign == '*')
        check(__builtin_mul_overflow(value, right, &value));
      else
        value = divide(value, right);
    }
    return value;
  }

  std::int64_t divide(std::int64_t value, std::int64_t by) {
    if (by == 0) return stop("division by zero");
    if (value == INT64_MIN) return stop("the value does not fit 64 bits");
    if (value % by != 0) return stop(std::to_string(value) + " / " + std::to_string(by) + " does not come out even");
    return value / by;
  }

  std::int64_t atom() {
    const char next = peek();
    if (next == '(') return parenthesis();
    if (std::isdigit(static_cast<unsigned char>(next)) != 0) return integer();
    if (std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '_') return name();
    if (next == '\0') return stop("it ends where a number, a name or '(' should be");
    return stop(std::string("unexpected '") + next + "'");
  }

  std::int64_t parenthesis() {
    if (++depth_ > kParenthesesMax) return stop("parentheses nested deeper than 16");
    ++at_;
    const std::int64_t value = sum();
    if (error_.empty() && peek() != ')') return stop("a ')' is missing");
    ++at_;
    --depth_;
    return value;
  }

  std::int64_t integer() {
    std::int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      check(__builtin_mul_overflow(value, 10, &value));
      check(__builtin_add_overflow(value, text_[at_++] - '0', &value));
    }
    return value;
  }

  std::int64_t name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const auto found = names_.find(word);
    if (found != names_.end()) return found->second;
    return stop("no dim or index is named \"" + std::string(word) + "\"; known are " + known());
  }

  std::string known() const {
    std::string list;
    for (const auto& [known_name, value] : names_) list += (list.empty() ? "" : ", ") + known_name;
    return list.empty() ? "none" : list;
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void check(bool overflow) {
    if (overflow) stop("the value does not fit 64 bits");
  }
  std::int64_t stop(const std::string& what) {
    if (error_.empty()) error_ = what;
    return 0;
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

Result<std::int64_t> evaluate(std::string_view expression, const Names& names) {
  return Evaluator(expression, names).whole();
}

Result<std::string> substitute(std::string_view text, const Names& names) {
  std::string result;
  while (true) {
    const std::size_t open = text.find_first_of("{}");
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = text.find('}', open);
    if (text[open] == '}' || close == std::string_view::npos) return invalid("unbalanced braces");
    const Result<std::int64_t> value = evaluate(text.substr(open + 1, close - open - 1), names);
    if (!value) return because(value.error());
    result += std::to_string(*value);
    text.remove_prefix(close + 1);
  }
}

}  // namespace onelaunch::tasks
