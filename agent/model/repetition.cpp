#include "agent/model/repetition.h"

#include <algorithm>
#include <cctype>

#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of a time of day like 01:02:03 that begins at `at`, or `at`.
std::size_t past_clock(const std::string& text, std::size_t at) {
  constexpr std::size_t length = 8;
  if (at + length > text.size()) return at;
  for (std::size_t i = 0; i < length; ++i)
    if (i % 3 == 2 ? text[at + i] != ':' : !is_digit(text[at + i])) return at;
  return at + length;
}

// Length of a unit of time at `at`, with the space before it; 0: none.
std::size_t time_unit(const std::string& text, std::size_t at) {
  const std::size_t start = at < text.size() && text[at] == ' ' ? at + 1 : at;
  std::size_t end = start;
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string word = text.substr(start, end - start);
  for (const char* unit : {"s", "ms", "us", "ns", "min", "seconds"})
    if (word == unit) return end - at;
  return 0;
}

Repeating level(int count, int warn, int force, int stop) {
  if (count >= stop) return Repeating::stop;
  if (count == force) return Repeating::force;
  return count == warn ? Repeating::warn : Repeating::no;
}

}  // namespace

std::string without_times(const std::string& output) {
  std::string masked;
  for (std::size_t i = 0; i < output.size();) {
    const bool inside = i > 0 && (is_word(output[i - 1]) || output[i - 1] == '.');
    if (!inside && output.compare(i, 2, "0x") == 0) {
      masked += "0x#";
      for (i += 2; i < output.size() && std::isxdigit(static_cast<unsigned char>(output[i])) != 0;) ++i;
      continue;
    }
    if (inside || !is_digit(output[i])) {
      masked += output[i++];
      continue;
    }
    if (const std::size_t clock = past_clock(output, i); clock != i) {
      masked += "#";
      i = clock;
      continue;
    }
    std::size_t end = i;
    const auto in_number = [&](std::size_t at) {
      const bool point = output[at] == '.' && at + 1 < output.size() && is_digit(output[at + 1]);
      return is_digit(output[at]) || point;
    };
    while (end < output.size() && in_number(end)) ++end;
    const std::size_t unit = time_unit(output, end);
    masked += unit > 0 ? "#" : output.substr(i, end - i);
    masked += unit > 0 ? output.substr(end, unit) : "";
    i = end + unit;
  }
  return masked;
}

Repeating RepetitionWatch::saw(const CallSeen& call) {
  std::string key;
  for (const std::string& part : {call.name, call.arguments, without_times(call.output), call.state})
    key.append(part).append(1, '\0');
  window_.push_back(sha256_hex(key));
  if (window_.size() > kWindow) window_.pop_front();
  times_ = static_cast<int>(std::ranges::count(window_, window_.back()));
  errors_ = call.error ? errors_ + 1 : 0;
  const Repeating same = level(times_, kWarnAt, kForceAt, kStopAt);
  const Repeating failing = level(errors_, kErrorsWarnAt, kErrorsForceAt, kErrorsStopAt);
  by_errors_ = failing > same;
  return std::max(same, failing);
}

}  // namespace onelaunch::agent
