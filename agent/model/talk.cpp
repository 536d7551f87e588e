#include "agent/model/talk.h"

#include <utility>

#include "agent/model/words.h"

namespace onelaunch::agent {
namespace {

// Calls of a later conversation may bear the ids of an earlier one's.
std::string traced_id(int conversation, const std::string& id) {
  return conversation <= 1 ? id : std::to_string(conversation) + "." + id;
}

}  // namespace

void Talk::asked(const UserTurn& turn) {
  in_flight_ = true;
  ++turns_;
  said_ = turn;
  calls_.clear();
  notices_.clear();
  marks_.insert(turn.marks.begin(), turn.marks.end());
  if (turn.kind == UserTurn::Kind::open || turn.kind == UserTurn::Kind::restart) {
    ++conversation_;
    replies_since_restart_ = 0;
    answer_.reset();
    watch_ = {};
  }
}

void Talk::answered(const ModelTurn& turn, const traces::ModelResponse& event) {
  in_flight_ = false;
  answer_ = turn;
  calls_.clear();
  for (const llm::ToolCall& call : turn.calls)
    calls_.push_back({.call = call, .id = traced_id(conversation_, call.id)});
  const auto count = [&](llm::Ending ending, int before) { return turn.ending == ending ? before + 1 : 0; };
  nudges_ = count(llm::Ending::finished, nudges_);
  cut_offs_ = count(llm::Ending::cut_off, cut_offs_);
  pauses_ = count(llm::Ending::paused, pauses_);
  if (turn.ending == llm::Ending::refused) ++refusals_;
  if (turn.ending == llm::Ending::tool_calls) refusals_ = 0;
  const bool counts = turn.ending != llm::Ending::refused && turn.ending != llm::Ending::context_full;
  if (counts) ++replies_since_restart_;
  ++spending_.replies;
  spending_.usd += event.cost_usd.value_or(0);
  if (!event.cost_usd) ++spending_.unpriced;
  spending_.tokens += event.input_tokens + event.cache_read_tokens + event.cache_write_tokens + event.output_tokens;
  spending_.output_tokens += event.output_tokens;
}

Talk::Call* Talk::open_call() {
  for (Call& call : calls_)
    if (!call.output) return &call;
  return nullptr;
}

void Talk::called() {
  if (Call* call = open_call()) call->begun = true;
}

void Talk::proposed(const std::string& candidate) {
  Call* call = open_call();
  if (call != nullptr && call->begun) call->candidate = candidate;
}

void Talk::returned(const traces::ToolResult& event, const CallSeen& seen) {
  Call* call = open_call();
  if (call == nullptr) return;
  call->output = UserTurn::Output{.call_id = call->call.id, .sha256 = event.result_sha256, .error = event.error};
  if (!event.state_sha256.empty()) tool_state_ = event.state_sha256;
  const Repeating said = watch_.saw(seen);
  if (said == Repeating::warn || said == Repeating::force) notices_.push_back(words::repeating(watch_, said));
  stuck_ = stuck_ || said == Repeating::stop;
  if (event.name != "finish" || event.error) return;
  ++finish_asked_;
  if (seen.output == words::really_finish()) return;
  finished_ = seen.output.substr(0, seen.output.find('\n'));
  if (finished_.empty()) finished_ = "finished";
}

void Talk::ended() {
  nudges_ = cut_offs_ = pauses_ = refusals_ = finish_asked_ = 0;
  stuck_ = false;
  finished_.clear();
  watch_ = {};
}

}  // namespace onelaunch::agent
