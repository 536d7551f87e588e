#include <algorithm>
#include <regex>

#include "traces/foreign/readers.h"

namespace onelaunch::traces {

int Transcript::tool_calls() const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const TranscriptStep& step) {
    return step.kind == TranscriptStep::Kind::tool_call;
  }));
}

namespace foreign {
namespace {

using Kind = TranscriptStep::Kind;
constexpr std::size_t kFiguresMax = 12, kFigureWidth = 200, kSearchedBytesMax = std::size_t{1} << 16;

void add_up(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

bool states_a_speed(const std::string& line) {
  static const std::regex pattern(
      R"((speedup|geomean|peak_fraction|tok(ens)?/s|us/tok|[0-9.]+ ?(us|µs|x)\b).*)", std::regex::icase);
  const bool digit = line.find_first_of("0123456789") != std::string::npos;
  return digit && line.size() <= kFigureWidth && std::regex_search(line, pattern);
}

// The last lines of tool results that state speeds, each once.
std::vector<std::string> figures_of(const std::vector<TranscriptStep>& steps) {
  std::vector<std::string> found;
  for (auto step = steps.rbegin(); step != steps.rend() && found.size() < kFiguresMax; ++step) {
    if (step->kind != Kind::tool_result) continue;
    const std::string text = step->text.substr(0, kSearchedBytesMax);
    for (std::size_t end = text.size(); found.size() < kFiguresMax;) {
      const std::size_t begin = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
      const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
      const std::string line = text.substr(from, end - from);
      if (states_a_speed(line) && std::find(found.begin(), found.end(), line) == found.end()) found.push_back(line);
      if (from == 0) break;
      end = begin;
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace

std::optional<double> TranscriptBuilder::since_start(std::optional<double> when) {
  if (!when) return std::nullopt;
  if (!first_) {
    first_ = when;
    made_.started = iso_of(*when);
  }
  return std::max(0.0, *when - *first_);
}

TranscriptStep& TranscriptBuilder::add(Kind kind, std::string text, std::optional<double> when) {
  const std::optional<double> t = since_start(when);
  TranscriptStep& step = made_.steps.emplace_back();
  step.kind = kind;
  step.text = std::move(text);
  step.t = t;
  return step;
}

void TranscriptBuilder::call(const std::string& id, const std::string& name, std::string arguments,
                             std::optional<double> when) {
  TranscriptStep& step = add(Kind::tool_call, std::move(arguments), when);
  step.id = id;
  step.name = name;
  calls_[id] = {name, when};
}

void TranscriptBuilder::result(const std::string& id, std::string output, bool failed, std::optional<double> when) {
  TranscriptStep& step = add(Kind::tool_result, std::move(output), when);
  step.id = id;
  step.failed = failed;
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  step.name = call->second.name;
  if (when && call->second.when) step.seconds = std::max(0.0, *when - *call->second.when);
}

void TranscriptBuilder::turn(const TranscriptTurn& turn) {
  const auto [place, is_new] = turn_of_.try_emplace(turn.id, made_.turns.size());
  if (is_new || turn.id.empty()) made_.turns.push_back(turn);
  else made_.turns[place->second] = turn;
  if (made_.model.empty()) made_.model = turn.model;
}

Transcript TranscriptBuilder::take() {
  if (!made_.use.output && !made_.use.input) {
    for (const TranscriptTurn& turn : made_.turns) {
      add_up(made_.use.input, turn.use.input);
      add_up(made_.use.cache_read, turn.use.cache_read);
      add_up(made_.use.cache_write, turn.use.cache_write);
      add_up(made_.use.output, turn.use.output);
      add_up(made_.use.reasoning, turn.use.reasoning);
      if (!turn.cost_usd) continue;
      made_.cost_usd = made_.cost_usd.value_or(0) + *turn.cost_usd;
    }
  }
  double last = 0;
  for (const TranscriptStep& step : made_.steps) last = std::max(last, step.t.value_or(0));
  if (!made_.duration_s && last > 0) made_.duration_s = last;
  if (!first_) made_.lacks.push_back("times");
  else if (std::any_of(made_.steps.begin(), made_.steps.end(), [](const TranscriptStep& step) { return !step.t; }))
    made_.lacks.push_back("times of some steps");
  if (!made_.use.output) made_.lacks.push_back("tokens");
  if (!made_.cost_usd) made_.lacks.push_back("cost");
  if (made_.model.empty()) made_.lacks.push_back("model");
  if (made_.ending.empty()) made_.lacks.push_back("how it ended");
  made_.figures = figures_of(made_.steps);
  return std::move(made_);
}

}  // namespace foreign
}  // namespace onelaunch::traces
