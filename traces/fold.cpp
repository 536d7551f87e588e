#include "traces/fold.h"

#include <cmath>

namespace onelaunch::traces {
namespace {

// Applies one event to the state. An event about a candidate that was never proposed is passed over.
struct Folder {
  SessionState& state;
  const Record& record;

  Attempt* attempt(const std::string& id) const {
    const auto found = state.attempt_of.find(id);
    return found == state.attempt_of.end() ? nullptr : &state.attempts[found->second];
  }

  void renew(std::optional<double>& us, bool& remeasured, const std::string& id) const {
    if (us && !remeasured) return;
    us = score_of(state.times_of(id));
    remeasured = us.has_value();
  }

  void operator()(const SessionStart& e) const { state.start = e; }
  void operator()(const DeviceSeen& e) const { state.device = e; }
  void operator()(const Ceilings& e) const { state.ceilings = e; }
  void operator()(const Noise& e) const { state.noise = e; }
  void operator()(const Baseline& e) const { state.baselines[e.name] = e; }
  void operator()(const Control& e) const { state.controls.push_back(e); }
  void operator()(const ModelResponse& e) const {
    ++state.model_turns;
    state.input_tokens += e.input_tokens;
    state.output_tokens += e.output_tokens;
    state.cost_usd += e.cost_usd.value_or(0);
    state.cost_told = state.cost_told || e.cost_usd.has_value();
    state.model = e.model;
  }
  void operator()(const Candidate& e) const {
    state.attempt_of[e.id] = state.attempts.size();
    Attempt& added = state.attempts.emplace_back();
    added.candidate = e;
    added.t = record.t;
    added.seq = record.seq;
  }
  void operator()(const Compile& e) const {
    if (Attempt* a = attempt(e.candidate)) a->compile = e;
  }
  void operator()(const Gate& e) const {
    if (Attempt* a = attempt(e.candidate)) a->gates.push_back(e);
  }
  void operator()(const Measurement& e) const {
    Attempt* a = attempt(e.candidate);
    if (!a) return;
    a->measurements.push_back(e);
    if (!a->decision) return;
    // Judged before, measured anew: until a decision or checkpoint says more, these are its numbers.
    if (a->is_seed()) renew(state.seed_us, state.seed_us_remeasured, e.candidate);
    if (e.candidate == state.best) renew(state.best_us, state.best_us_remeasured, e.candidate);
  }
  void operator()(const Decision& e) const {
    Attempt* a = attempt(e.candidate);
    if (!a) return;
    a->decision = e;
    if (a->is_seed()) {
      if (e.us) state.seed_us = e.us, state.seed_us_remeasured = false;
      return;
    }
    ++state.decisions;
    if (e.verdict == "keep") ++state.kept;
  }
  void operator()(const Checkpoint& e) const {
    if (e.candidate != state.best) state.best_t = record.t;
    state.best = e.candidate;
    state.best_us = e.us;
    state.best_us_remeasured = false;
    if (const Attempt* a = attempt(e.candidate); a && a->is_seed() && !state.seed_us) state.seed_us = e.us;
  }
  void operator()(const Note& e) const { state.notes.push_back(e.text); }
  void operator()(const InfraError&) const { ++state.infra_errors; }
  // Ends a leg: what an earlier end or re-grade said no longer holds. Numbers are tied to the device they came from.
  void operator()(const Resume& e) const {
    ++state.legs;
    state.end.reset();
    state.regrade.reset();
    if (e.uuid == e.previous_uuid) return;
    state.best_us.reset();
    state.seed_us.reset();
    state.best_us_remeasured = state.seed_us_remeasured = false;
    state.ceilings.reset();
    state.noise.reset();
    state.baselines.clear();
    for (Attempt& a : state.attempts) a.measurements.clear();
  }
  void operator()(const Regrade& e) const { state.regrade = e; }
  void operator()(const SessionEnd& e) const { state.end = e; }
  template <class E>
  void operator()(const E&) const {}
};

// In long double, so that the mean of equal values is that value.
std::optional<double> geometric_mean(long double log_sum, std::size_t n) {
  if (n == 0) return std::nullopt;
  return static_cast<double>(std::exp(log_sum / static_cast<long double>(n)));
}

}  // namespace

void SessionState::apply(const Record& record) {
  std::visit(Folder{*this, record}, record.event);
  active_s = record.t;
  last_ts = record.ts;
}

const Attempt* SessionState::find(const std::string& candidate) const {
  const auto found = attempt_of.find(candidate);
  return found == attempt_of.end() ? nullptr : &attempts[found->second];
}

std::string SessionState::kind() const {
  if (const Attempt* a = find(best); a && !a->measurements.empty()) return a->measurements.back().kind;
  if (ceilings) return ceilings->modelled ? "modelled" : "measured";
  if (!baselines.empty()) return baselines.begin()->second.kind;
  for (const Attempt& a : attempts)
    if (!a.measurements.empty()) return a.measurements.back().kind;
  return "";
}

std::map<std::int64_t, ContextTime> SessionState::times_of(const std::string& candidate) const {
  std::map<std::int64_t, ContextTime> times;
  const Attempt* a = find(candidate);
  if (!a) return times;
  for (const Measurement& m : a->measurements)
    if (m.timing == "primary")
      times[m.context] = {.context = m.context, .us_median = m.us_median, .us_low = m.us_low, .us_high = m.us_high, .n = m.n};
  return times;
}

const Baseline* SessionState::baseline() const {
  if (end)
    if (const auto named = baselines.find(end->baseline); named != baselines.end()) return &named->second;
  for (const char* name : {"torch-compile", "torch-graph", "torch", "graph", "eager"})
    if (const auto found = baselines.find(name); found != baselines.end()) return &found->second;
  return baselines.empty() ? nullptr : &baselines.begin()->second;
}

bool SessionState::verified() const {
  return regrade && !best.empty() && regrade->candidate == best && regrade->outcome == "passed" &&
         regrade->quarantine.empty();
}

std::optional<double> score_of(const std::vector<ContextTime>& times) {
  long double log_sum = 0;
  for (const ContextTime& time : times) {
    if (!(time.us_median > 0)) return std::nullopt;
    log_sum += std::log(static_cast<long double>(time.us_median));
  }
  return geometric_mean(log_sum, times.size());
}

std::optional<double> score_of(const std::map<std::int64_t, ContextTime>& times) {
  std::vector<ContextTime> list;
  for (const auto& [context, time] : times) list.push_back(time);
  return score_of(list);
}

}  // namespace onelaunch::traces
