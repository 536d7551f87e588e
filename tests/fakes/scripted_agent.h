#pragma once
// An agent that proposes what the test lists, then has no further idea. Keeps what it was told.

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "agent/loop/agent.h"
#include "agent/loop/observer.h"

namespace onelaunch::fakes {

class ScriptedAgent final : public agent::Agent {
 public:
  std::string name() const override { return "scripted"; }
  Result<void> begin(const agent::Brief& brief) override { return history = brief.history, Result<void>(); }
  Result<std::optional<agent::Proposal>> ask(Deadline) override {
    if (endless) return std::optional(agent::Proposal{.source = source, .tunables = {{"A", std::to_string(++asked_)}}});
    if (proposals.empty()) return std::optional<agent::Proposal>();
    std::optional<agent::Proposal> next = std::move(proposals.front());
    proposals.pop_front();
    return next;
  }
  void tell(const agent::Report& report) override { told.push_back(report); }
  bool looks_ahead() const override { return ahead; }

  std::string source = "OL_TUNABLE(A, 0, 0, 1, 2, 3)\nmegakernel";
  std::deque<agent::Proposal> proposals;
  std::vector<agent::Report> told, history;
  bool ahead = false, endless = false;

 private:
  int asked_ = 0;
};

class QuietObserver final : public agent::Observer {
 public:
  void say(const std::string& topic, const std::string& line) override { said += topic + ": " + line + "\n"; }
  void busy(const std::string&) override {}
  void decided(const agent::Report& report) override { decisions.push_back(report); }
  std::string said;
  std::vector<agent::Report> decisions;
};

}  // namespace onelaunch::fakes
