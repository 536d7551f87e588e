#include "sandbox/host/tunables.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace onelaunch::sandbox {
namespace {

constexpr std::size_t kTunablesMax = 64, kValuesMax = 256, kValueBytesMax = 64;
constexpr std::string_view kMacro = "OL_TUNABLE";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The source with comments, literals and preprocessor lines blanked out; newlines stay.
class Blanker {
 public:
  explicit Blanker(const std::string& source) : text_(source) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(text_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (starts("//"))
      blank_line();
    else if (starts("/*"))
      blank_to("*/");
    else if (c == '#' && line_is_empty_)
      blank_line();
    else if (c == '"' && at_ > 0 && text_[at_ - 1] == 'R')
      blank_raw();
    else if (c == '"' || (c == '\'' && (at_ == 0 || !is_word(text_[at_ - 1]))))  // not the ' of 1'000
      blank_literal(c);
    else
      pass();
  }
  bool starts(std::string_view what) const { return std::string_view(text_).substr(at_, what.size()) == what; }
  void pass() {
    const char c = text_[at_++];
    if (c == '\n')
      line_is_empty_ = true;
    else if (std::isspace(static_cast<unsigned char>(c)) == 0)
      line_is_empty_ = false;
  }
  void blank() {
    if (text_[at_] != '\n') text_[at_] = ' ';
    ++at_;
  }
  // To the end of the logical line: a backslash before the newline continues it.
  void blank_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      const bool continued = text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
      const bool comment = starts("/*");
      if (comment) {
        blank_to("*/");
        continue;
      }
      blank();
      if (continued) blank();
    }
  }
  void blank_to(std::string_view end) {
    const std::size_t stop = std::min(text_.find(end, at_ + 2), text_.size() - end.size()) + end.size();
    while (at_ < std::min(stop, text_.size())) blank();
  }
  void blank_literal(char quote) {
    blank();
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) blank();
      blank();
    }
    if (at_ < text_.size() && text_[at_] == quote) blank();
    line_is_empty_ = false;
  }
  void blank_raw() {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    std::string end(1, ')');
    end.append(text_, at_ + 1, open - at_ - 1).append(1, '"');
    const std::size_t stop = std::min(text_.find(end, open), text_.size() - end.size()) + end.size();
    while (at_ < std::min(stop, text_.size())) blank();
    line_is_empty_ = false;
  }

  std::string text_;
  std::size_t at_ = 0;
  bool line_is_empty_ = true;
};

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return std::string(text);
}

bool is_identifier(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::ranges::all_of(text, is_word);
}

struct Call {
  std::vector<std::string> arguments;
  std::size_t end = 0;  // after the closing parenthesis
};

// The arguments of a call whose opening parenthesis is at `open`; nothing when it never closes.
std::optional<Call> read_call(std::string_view text, std::size_t open) {
  Call call;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '{' || text[i] == '[') ++depth;
    const bool closes = text[i] == ')' || text[i] == '}' || text[i] == ']';
    if ((text[i] == ',' && depth == 1) || (closes && depth == 1)) {
      call.arguments.push_back(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
    if (closes && --depth == 0) {
      call.end = i + 1;
      return call;
    }
  }
  return std::nullopt;
}

bool good_value(const std::string& value) {
  return !value.empty() && value.size() <= kValueBytesMax && value.find('\n') == std::string::npos &&
         value.find('\\') == std::string::npos;
}

Result<Tunable> tunable_of(const Call& call) {
  const std::string form = "write OL_TUNABLE(NAME, default, v1, v2, ...)";
  if (call.arguments.size() < 2) return invalid("OL_TUNABLE needs a name and a default: " + form);
  Tunable tunable{call.arguments[0], call.arguments[1], {}};
  if (!is_identifier(tunable.name)) return invalid("'" + tunable.name + "' is no name: " + form);
  for (std::size_t i = 2; i < call.arguments.size(); ++i) tunable.values.push_back(call.arguments[i]);
  if (!std::ranges::count(tunable.values, tunable.fallback)) tunable.values.insert(tunable.values.begin(), tunable.fallback);
  for (const std::string& value : tunable.values)
    if (!good_value(value))
      return invalid("OL_TUNABLE(" + tunable.name + "): a value is empty, a string, or longer than " +
                     std::to_string(kValueBytesMax) + " characters; values are numbers or names");
  if (tunable.values.size() > kValuesMax)
    return invalid("OL_TUNABLE(" + tunable.name + ") has more than " + std::to_string(kValuesMax) + " values");
  return tunable;
}

std::string place(std::string_view text, std::size_t at) {
  return "kernel.cu:" + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

Result<void> add(std::vector<Tunable>& tunables, Tunable tunable) {
  for (const Tunable& other : tunables)
    if (other.name == tunable.name) return invalid("OL_TUNABLE(" + tunable.name + ") is declared twice");
  if (tunables.size() == kTunablesMax) return invalid("more than " + std::to_string(kTunablesMax) + " tunables");
  tunables.push_back(std::move(tunable));
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace

Result<std::vector<Tunable>> scan_tunables(const std::string& source) {
  const std::string text = Blanker(source).run();
  std::vector<Tunable> tunables;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      depth += (text[i] == '{') - (text[i] == '}');
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < text.size() && is_word(text[i])) ++i;
    if (std::string_view(text).substr(start, i - start) != kMacro) continue;
    const std::string where = place(text, start);
    if (depth > 0) return invalid(where + ": OL_TUNABLE belongs at the top of the file, outside of all braces");
    const std::size_t open = text.find_first_not_of(" \t\r\n", i);
    if (open == std::string::npos || text[open] != '(') return invalid(where + ": OL_TUNABLE is not followed by '('");
    const auto call = read_call(text, open);
    if (!call) return invalid(where + ": OL_TUNABLE( is never closed");
    auto tunable = tunable_of(*call);
    if (!tunable) return invalid(where + ": " + tunable.error().message);
    if (auto added = add(tunables, std::move(*tunable)); !added) return invalid(where + ": " + added.error().message);
    i = call->end;
  }
  return tunables;
}

Result<TunableValues> choose_values(const std::vector<Tunable>& tunables, const TunableValues& requested) {
  TunableValues chosen;
  std::vector<std::string> names;
  for (const Tunable& tunable : tunables) {
    chosen[tunable.name] = tunable.fallback;
    names.push_back(tunable.name);
  }
  for (const auto& [name, value] : requested) {
    const auto declared = std::ranges::find(tunables, name, &Tunable::name);
    if (declared == tunables.end())
      return invalid("the source declares no tunable " + name +
                     (names.empty() ? "; it declares none" : "; it declares " + joined(names)));
    if (!std::ranges::count(declared->values, value))
      return invalid(name + " = " + value + " is not among its values: " + joined(declared->values));
    chosen[name] = value;
  }
  return chosen;
}

}  // namespace onelaunch::sandbox
