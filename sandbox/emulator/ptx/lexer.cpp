#include "sandbox/emulator/ptx/lexer.h"

#include <charconv>

namespace onelaunch::emu::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' || c == '%';
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result(1, '\'');
  return result.append(text).append(1, '\'');
}

Lexer::Lexer(std::string_view text) : text_(text) { advance(); }

Token Lexer::take() {
  const Token taken = token_;
  advance();
  return taken;
}

bool Lexer::accept(char punctuation) {
  if (!at(punctuation)) return false;
  advance();
  return true;
}

bool Lexer::accept(std::string_view word) {
  if (!at_word() || token_.text != word) return false;
  advance();
  return true;
}

void Lexer::expect(char punctuation) {
  if (accept(punctuation)) return;
  fail(token_.line, std::string("expected '") + punctuation + "' before " + quoted(token_.text));
}

std::string_view Lexer::expect_word() {
  if (at_word()) return take().text;
  fail(token_.line, "expected a name before " + quoted(token_.text));
  return {};
}

long long Lexer::expect_integer() {
  const Token token = take();
  long long value = 0;
  const auto [end, status] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (token.kind != Token::Kind::number || status != std::errc() || end != token.text.data() + token.text.size()) {
    fail(token.line, "expected an integer before " + quoted(token.text));
  }
  return value;
}

void Lexer::skip_braces() {
  for (int depth = 1; depth > 0 && !at_end(); advance()) {
    if (at('{')) ++depth;
    if (at('}')) --depth;
  }
}

void Lexer::skip_to(char punctuation) {
  while (!at_end() && !at(punctuation)) advance();
  expect(punctuation);
}

void Lexer::fail(int line, const std::string& message) {
  if (error_) return;
  error_ = Error{Error::Kind::invalid_input, "PTX line " + std::to_string(line) + ": " + message};
  position_ = text_.size();
  token_ = Token{Token::Kind::end, {}, line};
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (text_.substr(position_, 2) == "/*") {
      const std::size_t end = std::min(text_.find("*/", position_ + 2), text_.size() - 2);
      for (; position_ < end; ++position_) line_ += text_[position_] == '\n';
      position_ = end + 2;
    } else {
      return;
    }
  }
}

void Lexer::scan_word(bool directive) {
  const std::size_t start = position_;
  if (directive) ++position_;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (is_word(c) || (c == '.' && !directive)) {
      ++position_;
    } else if (c == ':' && position_ + 1 < text_.size() && text_[position_ + 1] == ':') {
      position_ += 2;
    } else {
      break;
    }
  }
  token_.text = text_.substr(start, position_ - start);
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{Token::Kind::end, {}, line_};
  if (position_ >= text_.size() || error_) return;
  const char c = text_[position_];
  if (is_word(c) || c == '.') {
    token_.kind = is_digit(c) ? Token::Kind::number : Token::Kind::word;
    scan_word(c == '.');
  } else if (c == '"') {
    const std::size_t end = text_.find('"', position_ + 1);
    if (end == std::string_view::npos) return fail(line_, "a string never ends");
    token_.kind = Token::Kind::string;
    token_.text = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
  } else {
    token_.kind = Token::Kind::punctuation;
    token_.text = text_.substr(position_++, 1);
  }
}

}  // namespace onelaunch::emu::ptx
