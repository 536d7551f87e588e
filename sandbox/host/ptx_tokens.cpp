#include "sandbox/host/ptx_tokens.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace onelaunch::sandbox {
namespace {

struct Token {
  std::string_view text;
  int line;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

std::vector<Token> tokens_of(std::string_view ptx) {
  std::vector<Token> tokens;
  int line = 1;
  for (std::size_t i = 0; i < ptx.size();) {
    std::size_t end = i + 1;
    if (ptx[i] == '\n') {
      ++line;
    } else if (ptx.substr(i, 2) == "//") {
      end = std::min(ptx.find('\n', i), ptx.size());
    } else if (ptx.substr(i, 2) == "/*") {
      const std::size_t close = ptx.find("*/", i + 2);
      end = close == std::string_view::npos ? ptx.size() : close + 2;
      line += static_cast<int>(std::count(ptx.begin() + static_cast<std::ptrdiff_t>(i),
                                          ptx.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    } else if (ptx[i] == '"') {
      end = std::min(ptx.find('"', i + 1), ptx.size() - 1) + 1;
      tokens.push_back({ptx.substr(i, end - i), line});
    } else if (is_word(ptx[i])) {
      while (end < ptx.size() && is_word(ptx[end])) ++end;
      tokens.push_back({ptx.substr(i, end - i), line});
    } else if (std::isspace(static_cast<unsigned char>(ptx[i])) == 0) {
      tokens.push_back({ptx.substr(i, 1), line});
    }
    i = end;
  }
  return tokens;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class Splitter {
 public:
  explicit Splitter(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<PtxStatement> run() {
    while (at_ < tokens_.size()) step();
    finish();
    return std::move(statements_);
  }

 private:
  void step() {
    const std::string_view text = tokens_[at_].text;
    if (current_.tokens.empty() && is_line_directive(text)) return line_directive();
    if (current_.tokens.empty() && text == ".section") return skip_section();
    ++at_;
    if (text == ";") {
      finish();
    } else if (text == ":" && current_.tokens.size() == 1) {
      current_.tokens.clear();
    } else if (text == "{" && opens_body()) {
      finish();
      ++depth_;
    } else if (text == "}" && inner_ == 0) {
      finish();
      --depth_;
    } else {
      inner_ += (text == "{") - (text == "}");
      if (current_.tokens.empty()) current_.line = tokens_[at_ - 1].line;
      current_.tokens.push_back(text);
    }
  }
  static bool is_line_directive(std::string_view text) {
    return text == ".loc" || text == ".file" || text == ".version" || text == ".target" || text == ".address_size";
  }
  // Ends with the line, not with a semicolon.
  void line_directive() {
    const std::size_t start = at_;
    const int line = tokens_[at_].line;
    while (at_ < tokens_.size() && tokens_[at_].line == line) ++at_;
    if (tokens_[start].text == ".loc" && at_ - start >= 4 && number(tokens_[start + 2].text) > 0 &&
        tokens_[start + 1].text == "1")
      source_line_ = number(tokens_[start + 2].text);
  }
  void skip_section() {
    while (at_ < tokens_.size() && tokens_[at_].text != "}") ++at_;
    ++at_;
  }
  // A brace opens a body at the start of a statement and after the head of a function.
  bool opens_body() const {
    if (inner_ > 0) return false;
    return current_.tokens.empty() || std::ranges::any_of(current_.tokens, [](std::string_view token) {
             return token == ".entry" || token == ".func";
           });
  }
  void finish() {
    if (!current_.tokens.empty()) {
      current_.depth = depth_;
      current_.source_line = source_line_;
      statements_.push_back(std::move(current_));
    }
    current_ = {};
    inner_ = 0;
  }

  std::vector<Token> tokens_;
  std::vector<PtxStatement> statements_;
  PtxStatement current_;
  std::size_t at_ = 0;
  int depth_ = 0, inner_ = 0, source_line_ = 0;
};

}  // namespace

std::vector<PtxStatement> ptx_statements(std::string_view ptx) { return Splitter(tokens_of(ptx)).run(); }

}  // namespace onelaunch::sandbox
