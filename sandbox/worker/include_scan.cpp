#include "sandbox/worker/include_scan.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace onelaunch::worker {
namespace {

bool at(std::string_view text, std::size_t i, std::string_view what) { return text.substr(i, what.size()) == what; }

// Line splices go, but their newlines are put back at the end of the logical line.
std::string without_splices(std::string_view source) {
  std::string out;
  int owed = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (at(source, i, "\\\n") || at(source, i, "\\\r\n")) {
      i += source[i + 1] == '\r' ? 2 : 1;
      ++owed;
    } else if (source[i] == '\n') {
      out.append(static_cast<std::size_t>(owed) + 1, '\n');
      owed = 0;
    } else {
      out += source[i];
    }
  }
  return out;
}

// Comments become blanks; quoted text stays, since comment marks inside it mean nothing.
std::string without_comments(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (at(text, i, "//")) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (at(text, i, "/*")) {
      const std::size_t end = text.find("*/", i + 2);
      for (; i < text.size() && i < end + 2; ++i) out += text[i] == '\n' ? '\n' : ' ';
      if (end == std::string::npos) break;
    } else if (text[i] == '"' || text[i] == '\'') {
      const char quote = text[i];
      do {
        if (text[i] == '\\' && i + 1 < text.size()) out += text[i++];
        out += text[i++];
      } while (i < text.size() && text[i] != quote && text[i] != '\n');
      if (i < text.size()) out += text[i++];
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// <name> or "name" with a plain relative name.
bool plain_header(std::string_view rest) {
  if (rest.size() < 3) return false;
  const char open = rest.front(), close = open == '<' ? '>' : '"';
  if (open != '<' && open != '"') return false;
  const std::string_view name = rest.substr(1, rest.find(close, 1) - 1);
  return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos &&
         name.find('\\') == std::string_view::npos;
}

bool forbidden(std::string_view line) {
  if (line.find("__has_include") != std::string_view::npos || line.find("__has_embed") != std::string_view::npos) return true;
  std::string_view rest = trimmed(line);
  if (rest.starts_with("%:"))
    rest.remove_prefix(2);
  else if (rest.starts_with("#"))
    rest.remove_prefix(1);
  else
    return rest.starts_with("import") || rest.find("_Pragma") != std::string_view::npos;
  rest = trimmed(rest);
  if (rest.starts_with("include_next") || rest.starts_with("embed") || rest.starts_with("import")) return true;
  return rest.starts_with("include") && !plain_header(trimmed(rest.substr(7)));
}

}  // namespace

std::optional<std::string> forbidden_include(const std::string& source) {
  const std::string text = without_comments(without_splices(source));
  int number = 1;
  for (std::size_t start = 0; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    if (forbidden(line)) return "kernel.cu(" + std::to_string(number) + "): error: not allowed here: " + std::string(trimmed(line));
    start = end + 1;
  }
  return std::nullopt;
}

}  // namespace onelaunch::worker
