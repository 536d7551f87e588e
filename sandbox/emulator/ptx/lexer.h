#pragma once
// Tokens of PTX text. The first error sticks: from then on every token is `end`, so parsers need no error paths.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace onelaunch::emu::ptx {

struct Token {
  enum class Kind { end, word, number, string, punctuation };
  Kind kind = Kind::end;
  std::string_view text;  // into the PTX text; of a string: without its quotes
  int line = 0;
};

std::string quoted(std::string_view text);  // 'text'

// Words keep their dots ("ld.global.u32", "%tid.x") unless they start with one: ".reg.pred" is two words.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& peek() const { return token_; }
  Token take();
  int line() const { return token_.line; }
  bool at_end() const { return token_.kind == Token::Kind::end; }
  bool at(char punctuation) const { return token_.kind == Token::Kind::punctuation && token_.text[0] == punctuation; }
  bool at_word() const { return token_.kind == Token::Kind::word; }
  bool at_directive() const { return at_word() && token_.text[0] == '.'; }
  bool accept(char punctuation);
  bool accept(std::string_view word);
  void expect(char punctuation);
  std::string_view expect_word();
  long long expect_integer();
  void skip_braces();      // after '{': to behind its '}'
  void skip_to(char punctuation);  // behind the next one

  void fail(int line, const std::string& message);
  const std::optional<Error>& error() const { return error_; }

 private:
  void advance();
  void skip_blanks();
  void scan_word(bool directive);

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  Token token_;
  std::optional<Error> error_;
};

}  // namespace onelaunch::emu::ptx
