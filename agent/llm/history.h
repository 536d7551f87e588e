#pragma once
// What was said so far, as the provider's own JSON, and which calls still wait for their results.

#include <set>
#include <string>
#include <vector>

#include "agent/llm/dialect.h"
#include "base/result.h"

namespace onelaunch::llm {

class History {
 public:
  // `identity` names all that stands before the history in a request; restoring into another one fails.
  explicit History(std::string identity) : identity_(std::move(identity)) {}

  void append(const std::string& elements);
  // Keeps a complete turn, gives its calls ids of our own where the provider's do not serve, and waits for their
  // results.
  void keep(Turn& turn);
  // What was waited for, with what came; clears it.
  std::vector<Answered> settle(const std::vector<ToolOutput>& outputs);

  bool awaits_results() const { return !pending_.empty(); }
  bool empty() const { return elements_.empty() && turns_ == 0; }
  int turns() const { return turns_; }
  std::string text() const;  // elements, comma-separated

  // Append-only as the history itself: what changes stands at the end, so that two saves share their beginning.
  std::string save() const;
  Result<void> restore(const std::string& saved);

 private:
  std::string fresh_id(const std::string& wanted, std::size_t number);

  struct Element {
    std::string text;
    std::vector<std::string> ids;  // of the calls in it
  };
  std::string identity_;
  std::vector<Element> elements_;
  std::vector<PendingCall> pending_;
  std::set<std::string> ids_;
  int turns_ = 0;
};

}  // namespace onelaunch::llm
