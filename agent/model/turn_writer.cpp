#include "agent/model/turn_writer.h"

#include <algorithm>
#include <array>

#include "agent/model/words.h"
#include "agent/prompts/prompts.h"
#include "agent/tools/likeness.h"

namespace onelaunch::agent {
namespace {

constexpr std::array kShares{50, 75, 90};
constexpr double kLastMinutes_s = 600, kLastShare = 0.05;  // the smaller of the two is left: the last notice
constexpr int kStepsInVain = 4;
constexpr std::size_t kOutcomeBytesMax = 1500;

// Without cutting a UTF-8 character.
std::string beginning(const std::string& text) {
  if (text.size() <= kOutcomeBytesMax) return text;
  std::size_t cut = kOutcomeBytesMax;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + " ...";
}

// Marks every share that is reached; returns the largest that is new, 0 for none.
int newly_reached(const std::string& what, double share, const Talk& talk, std::vector<std::string>& marks) {
  int reached = 0;
  for (const int limit : kShares) {
    const std::string mark = what + std::to_string(limit);
    if (share * 100 < limit || talk.marks().contains(mark)) continue;
    marks.push_back(mark);
    reached = limit;
  }
  return reached;
}

std::string settings_text(const ModelOptions& options) {
  return (options.effort.empty() ? "" : "effort " + options.effort + ", ") + "at most " +
         std::to_string(options.output_tokens_max) + " tokens a reply, window of " + std::to_string(options.context_window) +
         " tokens";
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

// Results of tools end with the status line already.
std::string TurnWriter::footer(const Talk& talk, const UserTurn& turn) const {
  const std::string spent = spending_text(options_.budget, talk.spending());
  std::string text = turn.outputs.empty() ? toolbox_.status_line() : "";
  if (!spent.empty()) text += (text.empty() ? "[spent " : " [spent ") + spent + "]";
  return text;
}

std::vector<std::string> TurnWriter::notices(const Talk& talk, std::vector<std::string>& marks) const {
  std::vector<std::string> lines = talk.notices();
  const std::vector<Report>& history = bench_.history();
  if (history.size() > talk.last_said().judged) {
    const int steps = small_steps_in_vain(history, kStepsInVain);
    if (steps >= kStepsInVain)
      lines.push_back(words::small_steps(steps));
    else if (const auto near = steps > 0 ? near_attempt(history, history.size() - 1) : std::nullopt)
      lines.push_back(words::near_to(*near));
  }
  const Workbench::Situation now = bench_.situation();
  const bool last = now.left_s < std::min(kLastMinutes_s, kLastShare * now.wall_s) && !talk.marks().contains("time100");
  const int time = newly_reached("time", now.wall_s > 0 ? now.used_s / now.wall_s : 0, talk, marks);
  if (last) marks.push_back("time100");
  if (last || time > 0) lines.push_back(words::time_notice(last ? 100 : time));
  const int money = newly_reached("money", share_used(options_.budget, talk.spending()), talk, marks);
  if (money > 0) lines.push_back(words::money_notice(money));
  return lines;
}

bool TurnWriter::wants_restart(const Talk& talk) const {
  const std::optional<ModelTurn>& answer = talk.last_answer();
  if (!answer) return true;
  if (answer->ending == llm::Ending::context_full || answer->ending == llm::Ending::refused) return true;
  const double limit = options_.restart_share * static_cast<double>(options_.context_window);
  return talk.replies_since_restart() >= options_.restart_replies_min && static_cast<double>(answer->context_tokens) >= limit;
}

UserTurn TurnWriter::next(const Talk& talk, bool anew) const {
  UserTurn turn;
  if (talk.turns() == 0)
    turn.text = first_message(bench_);
  else if (anew || wants_restart(talk))
    turn.kind = UserTurn::Kind::restart, turn.text = restart_text(talk);
  else
    turn = following(talk);
  turn.judged = bench_.history().size();
  if (turn.kind == UserTurn::Kind::open || turn.kind == UserTurn::Kind::restart) turn.settings = settings_text(options_);
  if (turn.kind == UserTurn::Kind::again) return turn;
  std::vector<std::string> lines = notices(talk, turn.marks);
  if (!turn.text.empty()) lines.insert(lines.begin(), turn.text);
  turn.text = joined(lines) + footer(talk, turn);
  return turn;
}

UserTurn TurnWriter::following(const Talk& talk) const {
  UserTurn turn{.kind = UserTurn::Kind::say};
  switch (talk.last_answer()->ending) {
    case llm::Ending::tool_calls:
      turn.kind = UserTurn::Kind::answer;
      for (const Talk::Call& call : talk.calls())
        if (call.output) turn.outputs.push_back(*call.output);
      break;
    case llm::Ending::cut_off:
      turn.text = words::cut_off(static_cast<long>(options_.output_tokens_max));
      break;
    case llm::Ending::paused:
      if (talk.pauses() <= options_.pauses_max) turn.kind = UserTurn::Kind::again;
      turn.text = turn.kind == UserTurn::Kind::again ? "" : words::go_on();
      break;
    default:
      turn.text = words::nudge();
  }
  return turn;
}

std::string TurnWriter::restart_text(const Talk& talk) const {
  const Workbench::Situation now = bench_.situation();
  const Result<std::string> best = bench_.source_of(now.incumbent);
  const bool differs = !best || *best != toolbox_.candidate();
  return restart_message(bench_, toolbox_.notes(), differs) + last_outcomes(talk);
}

// What the model did last, which it has not been told the outcome of, or would not remember.
std::string TurnWriter::last_outcomes(const Talk& talk) const {
  std::string text;
  for (const Talk::Call& call : talk.calls()) {
    if (!call.output) continue;
    const Result<std::string> output = bench_.stored(call.output->sha256);
    text += "\n`" + call.call.name + "`: " + beginning(output.value_or("(lost)")) + "\n";
  }
  return text.empty() ? "" : "\nWhat you called last, and what came of it:\n" + text;
}

}  // namespace onelaunch::agent
