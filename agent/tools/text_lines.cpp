#include "agent/tools/text_lines.h"

#include <algorithm>

namespace onelaunch::agent {
namespace {

constexpr double kHeadShare = 0.6;
constexpr std::size_t kLineSearched = 400;  // bytes in which the end of a line is looked for

bool within_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t head_end(const std::string& text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at);
  if (line != std::string::npos && line + kLineSearched > at) return line + 1;
  while (at > 0 && within_character(text[at])) --at;
  return at;
}

std::size_t tail_begin(const std::string& text, std::size_t at) {
  const std::size_t line = text.find('\n', at);
  if (line != std::string::npos && line < at + kLineSearched) return line + 1;
  while (at < text.size() && within_character(text[at])) ++at;
  return at;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::size_t line_at(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

Listing numbered(const std::vector<std::string_view>& lines, std::size_t from, std::size_t to, std::size_t bytes_max) {
  Listing listing;
  const std::size_t last = std::min(to, lines.size()), width = std::to_string(last).size();
  for (std::size_t line = std::max<std::size_t>(from, 1); line <= last; ++line) {
    const std::string number = std::to_string(line);
    const std::string_view text = lines[line - 1];
    if (listing.last > 0 && listing.text.size() + width + text.size() + 3 > bytes_max) break;
    listing.text.append(width - std::min(width, number.size()), ' ').append(number).append("  ").append(text).append("\n");
    listing.last = line;
  }
  return listing;
}

std::string clipped(const std::string& text, std::size_t bytes_max, const std::string& the_rest) {
  if (text.size() <= bytes_max) return text;
  const auto head_bytes = static_cast<std::size_t>(static_cast<double>(bytes_max) * kHeadShare);
  const std::size_t head = head_end(text, head_bytes);
  const std::size_t tail = std::max(head, tail_begin(text, text.size() - (bytes_max - head_bytes)));
  if (tail <= head) return text;
  std::string cut = text.substr(0, head);
  if (!cut.empty() && cut.back() != '\n') cut += '\n';
  cut += "... " + std::to_string(tail - head) + " bytes left out" + (the_rest.empty() ? "" : ": " + the_rest) + " ...\n";
  return cut + text.substr(tail);
}

}  // namespace onelaunch::agent
