#pragma once
// How much an attempt is like earlier ones: the same code needs no second judgement, and small steps in a row are worth
// a word.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/agent.h"

namespace onelaunch::agent {

// The code without comments, its white space reduced to what separates words.
std::string bare_code(const std::string& source);

// The judged attempt of the same code with the same tunables; null when there is none.
const Report* same_attempt(const std::vector<Report>& history, const Proposal& proposal);

// Words and signs that only one of the two has, each counted as often as it is there more.
std::size_t words_apart(const std::string& source, const std::string& other);

struct Likeness {
  std::string id;         // of the most similar attempt
  std::size_t apart = 0;  // words
};
constexpr std::size_t kNearWords = 6;
constexpr std::size_t kNearAttempts = 60;  // before it, that are looked at

// Looks for small variations within one history, which it borrows; each source is taken apart once.
class Variations {
 public:
  explicit Variations(const std::vector<Report>& history) : history_(history) {}
  // The earlier attempt that `attempt` of the history is a small variation of.
  std::optional<Likeness> near(std::size_t attempt);

 private:
  const std::map<std::string, long>& words(std::size_t attempt);
  const std::vector<Report>& history_;
  std::map<std::size_t, std::map<std::string, long>> words_;  // by attempt: how often each word is there
};
// The same for one attempt.
std::optional<Likeness> near_attempt(const std::vector<Report>& history, std::size_t attempt);

// How many of the newest attempts in a row were small variations of earlier ones that were not kept; at most `at_most`.
int small_steps_in_vain(const std::vector<Report>& history, int at_most);

}  // namespace onelaunch::agent
