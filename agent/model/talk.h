#pragma once
// How a conversation stands, as a fold over what the trace says about it. While a session runs it is fed with every event
// as it is recorded; a resumed one is fed with those of the trace and stands where the killed one stood.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/model/repetition.h"
#include "agent/model/turn.h"
#include "traces/event.h"

namespace onelaunch::agent {

// What the model has cost over all legs.
struct ModelSpending {
  double usd = 0;
  std::uint64_t tokens = 0, output_tokens = 0;  // tokens: read and written, cached ones too
  int unpriced = 0;                             // replies whose cost is unknown
  int replies = 0;
};

class Talk {
 public:
  struct Call {
    llm::ToolCall call;
    std::string id;                    // in the trace: unique over all conversations
    bool begun = false;                // its tool_call is on record
    std::string candidate;             // id of what was proposed for it
    std::optional<UserTurn::Output> output;
  };

  // ---- what happened, in the order of the trace ----
  void asked(const UserTurn& turn);
  void answered(const ModelTurn& turn, const traces::ModelResponse& event);
  void called();                             // the next call begins
  void proposed(const std::string& candidate);  // an attempt, while a call is running
  void returned(const traces::ToolResult& event, const CallSeen& seen);
  void dropped() { in_flight_ = false; }     // the last request will never be answered
  void ended();                              // a leg came to its end: what counted against the model is forgiven

  // ---- how it stands ----
  int turns() const { return turns_; }       // requests so far
  bool in_flight() const { return in_flight_; }  // the last request has no answer
  const UserTurn& last_said() const { return said_; }
  const std::optional<ModelTurn>& last_answer() const { return answer_; }  // of this conversation
  const std::vector<Call>& calls() const { return calls_; }                // of the last answer
  Call* open_call();                         // the first without a result; null: none
  bool calls_done() { return open_call() == nullptr; }
  const std::string& tool_state() const { return tool_state_; }  // hash of its blob; empty: as at the beginning
  const ModelSpending& spending() const { return spending_; }
  const std::set<std::string>& marks() const { return marks_; }
  std::size_t judged_then() const { return said_.judged; }

  // Said about repetition since the last request; to be passed on with the next one.
  const std::vector<std::string>& notices() const { return notices_; }
  bool stuck() const { return stuck_; }
  // In a row; a call, or what the counter is about going well, sets it back.
  int nudges() const { return nudges_; }
  int cut_offs() const { return cut_offs_; }
  int pauses() const { return pauses_; }
  int refusals() const { return refusals_; }
  int replies_since_restart() const { return replies_since_restart_; }
  bool has_restarted() const { return conversation_ > 1; }
  int finish_asked() const { return finish_asked_; }
  const std::string& finished_because() const { return finished_; }  // empty: it has not

 private:
  bool in_flight_ = false, stuck_ = false;
  int turns_ = 0, conversation_ = 0, replies_since_restart_ = 0;
  int nudges_ = 0, cut_offs_ = 0, pauses_ = 0, refusals_ = 0, finish_asked_ = 0;
  UserTurn said_;
  std::optional<ModelTurn> answer_;
  std::vector<Call> calls_;
  std::string tool_state_, finished_;
  ModelSpending spending_;
  std::set<std::string> marks_;
  std::vector<std::string> notices_;
  RepetitionWatch watch_;
};

}  // namespace onelaunch::agent
