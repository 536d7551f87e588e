#pragma once
// The tools of an agent that is a language model, over a session's workbench: one candidate file, kernel.cu, to read, edit,
// compile, try out and evaluate; the history; notes. What evaluate gives is judged by the session.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "agent/loop/workbench.h"
#include "base/clock.h"
#include "base/result.h"

namespace onelaunch::agent {

struct Tool {
  std::string name, description;
  std::string schema;  // JSON Schema of the arguments, an object; the same text in every build
  bool slow = false;   // may take longer than 30 s
};

// All tools, in an order that never changes. Needs no session.
const std::vector<Tool>& all_tools();

struct ToolReply {
  std::string text;                  // short, exact, something to act on; ends with the status line
  bool error = false;
  std::optional<Proposal> proposal;  // evaluate: to be judged; report_text() is then what the tool answers
  bool finished = false;             // finish: the agent has no further idea
};

struct Desk;

// Borrows the workbench. Starts with the incumbent as the candidate file and without notes. One thread.
class Toolbox {
 public:
  explicit Toolbox(Workbench& workbench);
  ~Toolbox();
  Toolbox(Toolbox&&) noexcept;
  Toolbox& operator=(Toolbox&&) noexcept;

  const std::vector<Tool>& tools() const { return all_tools(); }
  // An unknown tool or bad arguments are answered with what is expected. Records nothing. Nothing outlives the deadline,
  // nor the end of the session's time for work.
  ToolReply call(const std::string& name, const std::string& arguments_json, Deadline deadline);
  // Instead of an evaluate whose proposal is on record already: leaves the toolbox as that call did.
  void evaluated();
  // What evaluate answers, the status line included.
  std::string report_text(const Report& report) const;
  // "[00:12:30 used, 01:47:30 left; 34 decisions, 5 kept; best c17 101.80 us modelled, 4.31x seed]"
  std::string status_line() const;

  const std::string& candidate() const;  // the file as it is
  const std::string& notes() const;

  // The candidate file, the notes and what they came from, as one JSON text: the same state gives the same text.
  std::string save() const;
  // Fails (invalid_input) on anything that save() did not write; then nothing is changed.
  Result<void> restore(const std::string& saved);

 private:
  std::unique_ptr<Desk> desk_;
};

}  // namespace onelaunch::agent
