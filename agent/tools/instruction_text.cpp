#include "agent/tools/instruction_text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <regex>
#include <string_view>
#include <vector>

#include "agent/tools/text_lines.h"

namespace onelaunch::agent {
namespace {

constexpr std::size_t kPatternBytesMax = 200, kLineBytesMax = 400, kLinesBetweenStops = 64;

// Repetition counts could ask for states without end.
std::string without_counts(const std::string& pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      out += pattern[i++];
      out += pattern[i];
      continue;
    }
    if (pattern[i] == '{' || pattern[i] == '}') out += '\\';
    out += pattern[i];
  }
  return out;
}

std::string listed(const std::map<std::string, std::size_t>& counts, std::size_t most) {
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i)
    text += (i == 0 ? "" : ", ") + sorted[i].first + " " + std::to_string(sorted[i].second);
  if (sorted.size() > most) text += ", and " + std::to_string(sorted.size() - most) + " more kinds";
  return text.empty() ? "none" : text;
}

bool opcode_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == ':'; }

// The word at the front, once a guard such as "@%p1" or "@!P0" is gone.
std::string_view opcode_of(std::string_view line) {
  const auto skip = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size())); };
  skip();
  if (line.starts_with('@')) {
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
    skip();
  }
  std::size_t end = 0;
  while (end < line.size() && opcode_character(line[end])) ++end;
  return line.substr(0, end);
}

}  // namespace

Result<std::function<bool(const std::string&)>> line_pattern(const std::string& pattern) {
  if (pattern.size() > kPatternBytesMax)
    return invalid("the pattern has " + std::to_string(pattern.size()) + " bytes; at most " + std::to_string(kPatternBytesMax) + " are taken");
  try {
    // Without backtracking; it refuses back references.
    const auto regex = std::make_shared<std::regex>(without_counts(pattern), std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
    return std::function<bool(const std::string&)>([regex](const std::string& line) { return std::regex_search(line, *regex); });
  } catch (const std::regex_error& error) {
    return invalid("the pattern is no regular expression: " + std::string(error.what()));
  }
}

Excerpt matching_lines(const std::string& text, const std::function<bool(const std::string&)>& matches, std::size_t bytes_max,
                       const std::function<bool()>& stop) {
  Excerpt excerpt;
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % kLinesBetweenStops == 0 && stop()) return excerpt.stopped = true, excerpt;
    const std::string line(lines[i].substr(0, kLineBytesMax));
    if (!matches(line)) continue;
    ++excerpt.matches;
    const std::string shown = std::to_string(i + 1) + "  " + line + "\n";
    if (excerpt.shown + 1 != excerpt.matches || excerpt.text.size() + shown.size() > bytes_max) continue;
    excerpt.text += shown;
    ++excerpt.shown;
  }
  return excerpt;
}

std::string ptx_counts(const std::string& ptx, std::size_t most) {
  std::map<std::string, std::size_t> counts;
  for (const std::string_view line : lines_of(ptx)) {
    const std::string_view opcode = opcode_of(line);
    const bool instruction = !opcode.empty() && std::islower(static_cast<unsigned char>(opcode.front())) != 0 && !opcode.ends_with(':') &&
                             line.find(';') != std::string_view::npos;
    if (instruction) ++counts[std::string(opcode)];
  }
  return listed(counts, most);
}

std::string sass_counts(const std::string& sass, std::size_t most) {
  std::map<std::string, std::size_t> counts;
  for (std::string_view line : lines_of(sass)) {
    const std::size_t address = line.find("/*");
    const std::size_t end = address == std::string_view::npos ? address : line.find("*/", address);
    if (end == std::string_view::npos || line.find(';') == std::string_view::npos) continue;
    const std::string_view opcode = opcode_of(line.substr(end + 2));
    if (!opcode.empty() && std::isupper(static_cast<unsigned char>(opcode.front())) != 0) ++counts[std::string(opcode)];
  }
  return listed(counts, most);
}

}  // namespace onelaunch::agent
