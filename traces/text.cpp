#include "traces/text.h"

#include <algorithm>
#include <cstdio>

namespace onelaunch::traces {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// U+0080..9F, U+200E/F, U+2028..202E, U+2060..2069: invisible, and some of them reorder or steer.
bool steers(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  if (byte(1) == 0x80) return byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae);
  return byte(1) == 0x81 && byte(2) >= 0xa0 && byte(2) <= 0xa9;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t width) {
  std::string line;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t next = i + 1;
    while (next < text.size() && continues(text[next])) ++next;
    const std::string_view character = text.substr(i, next - i);
    i = next;
    if (width > 0 && ++count > width - std::min<std::size_t>(width, 3) && width_of(text.substr(i)) + count > width)
      return line + "...";
    if (steers(character)) {
      if (character == "\t" || line.empty() || line.back() != ' ') line += ' ';
    } else {
      line += character;
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::size_t width_of(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return !continues(c); }));
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t have = width_of(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t have = width_of(text);
  return have < width ? std::string(width - have, ' ') + text : text;
}

std::string fixed(double value, int digits) {
  char text[400];  // DBL_MAX has 309 digits before the point
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string micros(double us) { return fixed(us, us < 1000 ? 2 : 1); }

std::string factor(double ratio) { return fixed(ratio, ratio < 10 ? 3 : 1) + "x"; }

std::string percent(double share) { return fixed(share * 100, 1) + " %"; }

std::string columns(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& align) {
  std::vector<std::size_t> widths(align.size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += align[i] == Align::left ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += print(rows[r]);
    if (r > 0) continue;
    std::vector<std::string> rule;
    for (const std::size_t width : widths) rule.push_back(std::string(width, '-'));
    text += print(rule);
  }
  return text;
}

}  // namespace onelaunch::traces
