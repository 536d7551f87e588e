#include "agent/llm/surrogates.h"

#include <cstdint>
#include <optional>

namespace onelaunch::llm {
namespace {

// Half h, of 0xD800 to 0xDFFF, is marked by character kMark + h - 0xD800 of the last private plane: F4
// 8F 80..9F 80..BF.
constexpr std::uint32_t kMark = 0x10F000;
constexpr std::uint32_t kFirst = 0xD800, kFirstLow = 0xDC00, kEnd = 0xE000;
constexpr std::string_view kMarkPrefix = "\xF4\x8F";
constexpr std::size_t kMarkBytes = 4, kEscapeBytes = 6;

void append_utf8(std::string& text, std::uint32_t code) {  // of four bytes
  for (const int shift : {18, 12, 6, 0})
    text += static_cast<char>((shift == 18 ? 0xF0 : 0x80) | ((code >> shift) & (shift == 18 ? 0x07u : 0x3Fu)));
}

// The half that an escape at `at` stands for.
std::optional<std::uint32_t> escaped_half(std::string_view text, std::size_t at) {
  if (at + kEscapeBytes > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : text.substr(at + 2, 4)) {
    const std::string_view digits = "0123456789abcdef";
    const std::size_t digit = digits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c));
    if (digit == std::string_view::npos) return std::nullopt;
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  return code >= kFirst && code < kEnd ? std::optional(code) : std::nullopt;
}

// The half that a mark at `at` stands for.
std::optional<std::uint32_t> marked_half(std::string_view text, std::size_t at) {
  if (at + kMarkBytes > text.size() || text.substr(at, 2) != kMarkPrefix) return std::nullopt;
  const auto third = static_cast<unsigned char>(text[at + 2]), fourth = static_cast<unsigned char>(text[at + 3]);
  if (third < 0x80 || third > 0x9F) return std::nullopt;
  return kFirst + ((third & 0x3Fu) << 6) + (fourth & 0x3Fu);
}

bool is_pair(std::optional<std::uint32_t> high, std::optional<std::uint32_t> low) {
  return high && low && *high < kFirstLow && *low >= kFirstLow;
}

}  // namespace

std::string with_halves_marked(std::string_view json) {
  std::string text;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t escape = json.find('\\', at);
    text.append(json.substr(at, escape - at));
    if (escape == std::string_view::npos) break;
    const auto half = escaped_half(json, escape);
    const bool paired = is_pair(half, escaped_half(json, escape + kEscapeBytes));
    const std::size_t size = !half ? 2 : paired ? 2 * kEscapeBytes : kEscapeBytes;
    if (half && !paired)
      append_utf8(text, kMark + *half - kFirst);
    else
      text.append(json.substr(escape, size));
    at = escape + size;
  }
  return text;
}

std::string with_halves_joined(std::string text) {
  std::size_t at = text.find(kMarkPrefix);
  if (at == std::string::npos) return text;
  std::string joined = text.substr(0, at);
  while (at < text.size()) {
    const auto high = marked_half(text, at), low = marked_half(text, at + kMarkBytes);
    if (is_pair(high, low)) {
      append_utf8(joined, 0x10000 + ((*high - kFirst) << 10) + (*low - kFirstLow));
      at += 2 * kMarkBytes;
    } else if (high) {
      joined += "\xEF\xBF\xBD";
      at += kMarkBytes;
    } else {
      joined += text[at++];
    }
  }
  return joined;
}

}  // namespace onelaunch::llm
