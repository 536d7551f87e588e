#pragma once
// Puts together the tool calls of a Chat Completions stream, of which every server has its own idea.

#include <optional>
#include <string>
#include <vector>

#include "agent/llm/event_json.h"

namespace onelaunch::llm {

struct PiecedCall {
  std::optional<std::uint64_t> index;
  std::string id, name, arguments;
};

class CallPieces {
 public:
  // The "tool_calls" of one delta, or of a whole message.
  void take(const Json& pieces);
  bool empty() const { return calls_.empty(); }
  // All calls, each with an id that is neither empty nor used twice: "call_TURN_N" where the server's does not serve.
  std::vector<PiecedCall> finish(int turn) const;

 private:
  PiecedCall& call_for(const Json& piece);
  std::vector<PiecedCall> calls_;
};

}  // namespace onelaunch::llm
