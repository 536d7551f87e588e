#include "agent/tools/likeness.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "agent/loop/defaults.h"

namespace onelaunch::agent {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The end of the comment that begins at `at`, or `at` when none does.
std::size_t past_comment(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") != 0) return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string::npos ? text.size() : end + 2;
}

// The end of the string or character literal that begins at `at`.
std::size_t past_literal(const std::string& text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') ++i;
    else if (text[i] == quote) return i + 1;
  }
  return std::min(at + 1, text.size());
}

std::map<std::string, long> words_of(const std::string& source) {
  const std::string code = bare_code(source);
  std::map<std::string, long> words;
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i + 1;
    if (is_word(code[i]))
      while (end < code.size() && is_word(code[end])) ++end;
    if (!is_space(code[i])) ++words[code.substr(i, end - i)];
    i = end;
  }
  return words;
}

// Of two sorted lists: what only one has.
std::size_t apart(const std::map<std::string, long>& words, const std::map<std::string, long>& other) {
  long count = 0;
  auto b = other.begin();
  for (const auto& [word, times] : words) {
    for (; b != other.end() && b->first < word; ++b) count += b->second;
    if (b != other.end() && b->first == word)
      count += std::abs(times - b->second), ++b;
    else
      count += times;
  }
  for (; b != other.end(); ++b) count += b->second;
  return static_cast<std::size_t>(count);
}

}  // namespace

std::string bare_code(const std::string& source) {
  std::string code;
  bool gap = false;
  for (std::size_t i = 0; i < source.size();) {
    if (const std::size_t end = past_comment(source, i); end != i) {
      gap = true;
      i = end;
      continue;
    }
    if (is_space(source[i])) {
      gap = true;
      ++i;
      continue;
    }
    const bool literal = source[i] == '"' || source[i] == '\'';
    const std::size_t end = literal ? past_literal(source, i) : i + 1;
    if (gap && !code.empty() && is_word(code.back()) && is_word(source[i])) code += ' ';
    gap = false;
    code.append(source, i, end - i);
    i = end;
  }
  return code;
}

const Report* same_attempt(const std::vector<Report>& history, const Proposal& proposal) {
  Proposal whole = proposal;
  fill_defaults(whole);
  const std::string code = bare_code(whole.source);
  for (auto report = history.rbegin(); report != history.rend(); ++report)
    if (report->verdict != Verdict::unjudged && report->proposal.tunables == whole.tunables &&
        bare_code(report->proposal.source) == code)
      return &*report;
  return nullptr;
}

std::size_t words_apart(const std::string& source, const std::string& other) {
  return apart(words_of(source), words_of(other));
}

const std::map<std::string, long>& Variations::words(std::size_t attempt) {
  const auto known = words_.find(attempt);
  if (known != words_.end()) return known->second;
  return words_[attempt] = words_of(history_[attempt].proposal.source);
}

std::optional<Likeness> Variations::near(std::size_t attempt) {
  std::optional<Likeness> nearest;
  for (std::size_t i = attempt > kNearAttempts ? attempt - kNearAttempts : 0; i < attempt; ++i) {
    const std::size_t between = apart(words(attempt), words(i));
    if (between <= kNearWords && (!nearest || between < nearest->apart))
      nearest = Likeness{.id = history_[i].candidate, .apart = between};
  }
  return nearest;
}

std::optional<Likeness> near_attempt(const std::vector<Report>& history, std::size_t attempt) {
  return Variations(history).near(attempt);
}

int small_steps_in_vain(const std::vector<Report>& history, int at_most) {
  Variations variations(history);
  int steps = 0;
  for (std::size_t i = history.size(); i > 1 && steps < at_most; --i, ++steps)
    if (history[i - 1].verdict == Verdict::keep || !variations.near(i - 1)) break;
  return steps;
}

}  // namespace onelaunch::agent
