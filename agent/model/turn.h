#pragma once
// What one turn adds to a conversation, as it is kept in the blobs of a trace: what was said to the model, and what it
// answered. Together they are enough to take the conversation up again.

#include <optional>
#include <string>
#include <vector>

#include "agent/llm/chat.h"
#include "base/result.h"

namespace onelaunch::agent {

// Said to the model.
struct UserTurn {
  enum class Kind {
    open,     // a new conversation: `text`
    restart,  // the same, after one that grew too long
    answer,   // results of the calls of the last reply, then `text`
    say,      // `text`
    again,    // nothing: the provider asked for the same once more
  };
  struct Output {
    std::string call_id, sha256;  // sha256: of its text, a blob
    bool error = false;
  };
  Kind kind = Kind::open;
  std::string text;
  std::vector<Output> outputs;
  std::vector<std::string> marks;  // notices that are not given twice: "time50", "money75"
  std::size_t judged = 0;          // attempts that the model knew of
  std::string settings;            // open, restart: how the model is driven, for the record
};
std::string print(const UserTurn& turn);
Result<UserTurn> parse_user_turn(const std::string& text);

// llm::Chat::save() as it grew: the first `kept` bytes of what it was before, then `added`.
struct HistoryStep {
  std::size_t kept = 0;
  std::string added;
  std::string sha256;  // of the whole
};
HistoryStep step_between(const std::string& before, const std::string& after);
// Fails (invalid_input) when the step does not fit.
Result<std::string> taken(const std::string& before, const HistoryStep& step);

// Answered by the model.
struct ModelTurn {
  llm::Ending ending = llm::Ending::finished;
  std::string detail, text, reasoning;
  std::vector<llm::ToolCall> calls;
  std::string request_id;
  std::uint64_t context_tokens = 0;  // prompt and reply
  bool estimated = false;            // the provider did not say how many tokens
  HistoryStep history;
};
ModelTurn model_turn(const llm::Reply& reply, HistoryStep history);
std::string print(const ModelTurn& turn);
Result<ModelTurn> parse_model_turn(const std::string& text);

}  // namespace onelaunch::agent
