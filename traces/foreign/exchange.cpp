#include "traces/foreign/exchange.h"

#include <map>
#include <utility>

namespace onelaunch::traces::foreign {
namespace {

using Kind = TranscriptStep::Kind;

bool of_the_model(Kind kind) { return kind == Kind::assistant || kind == Kind::reasoning || kind == Kind::tool_call; }

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "\n") + more;
}

class Cutter {
 public:
  explicit Cutter(const Transcript& transcript) {
    for (const TranscriptTurn& turn : transcript.turns)
      if (!turn.id.empty()) turns_[turn.id] = &turn;
  }

  void take(const TranscriptStep& step) {
    if (step.kind == Kind::tool_result) return answer(step);
    if (!of_the_model(step.kind)) {
      made_.push_back({.kind = step.kind, .text = step.text, .reasoning = "", .t = step.t, .calls = {}});
      open_ = false;
      return;
    }
    if (!open_ || (!step.turn.empty() && step.turn != turn_)) begin(step);
    Exchange& exchange = made_.back();
    if (!exchange.t) exchange.t = step.t;
    if (step.kind == Kind::assistant) append(exchange.text, step.text);
    if (step.kind == Kind::reasoning) append(exchange.reasoning, step.text);
    if (step.kind != Kind::tool_call) return;
    places_[step.id] = {made_.size() - 1, exchange.calls.size()};
    exchange.calls.push_back({.call = &step});
  }

  std::vector<Exchange> made() { return std::move(made_); }

 private:
  void begin(const TranscriptStep& step) {
    Exchange& exchange = made_.emplace_back();
    turn_ = step.turn;
    open_ = true;
    if (const auto turn = turns_.find(step.turn); turn != turns_.end()) exchange.turn = turn->second;
  }

  // Where its call is; the model speaks anew after it.
  void answer(const TranscriptStep& step) {
    const auto place = places_.find(step.id);
    if (place != places_.end()) made_[place->second.first].calls[place->second.second].result = &step;
    else made_.push_back({.kind = Kind::notice, .text = step.text, .reasoning = "", .t = step.t, .calls = {}});
    open_ = false;
  }

  std::vector<Exchange> made_;
  std::map<std::string, const TranscriptTurn*> turns_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> places_;
  std::string turn_;
  bool open_ = false;
};

}  // namespace

std::vector<Exchange> exchanges_of(const Transcript& transcript) {
  Cutter cutter(transcript);
  for (const TranscriptStep& step : transcript.steps) cutter.take(step);
  std::vector<Exchange> made = cutter.made();
  // A model's answer counts once, though results may have cut it in two.
  std::map<const TranscriptTurn*, bool> counted;
  for (Exchange& exchange : made)
    if (exchange.turn && std::exchange(counted[exchange.turn], true)) exchange.turn = nullptr;
  return made;
}

}  // namespace onelaunch::traces::foreign
