#include "traces/card.h"

#include <nlohmann/json.hpp>

namespace onelaunch::traces {
namespace {

using Json = nlohmann::ordered_json;

// The newest numbers that may be shown for a candidate: the closing re-grade's when it was of this one and passed.
std::vector<ContextTime> times_shown(const SessionState& state, const std::string& candidate) {
  if (state.verified() && state.best == candidate && !state.regrade->times.empty()) return state.regrade->times;
  std::vector<ContextTime> times;
  for (const auto& [context, time] : state.times_of(candidate)) times.push_back(time);
  return times;
}

void add_times(Json& card, const SessionState& state, const Attempt& attempt) {
  const std::vector<ContextTime> times = times_shown(state, attempt.candidate.id);
  std::optional<double> us = score_of(times);
  if (!us && attempt.decision) us = attempt.decision->us;
  card["kind"] = state.kind();
  if (us) card["us"] = *us;
  Json by_context = Json::object();
  for (const ContextTime& time : times)
    by_context[std::to_string(time.context)] = {{"us_median", time.us_median}, {"us_low", time.us_low},
                                                {"us_high", time.us_high},     {"n", time.n}};
  card["us_by_context"] = std::move(by_context);
  if (us && state.seed_us) card["over_seed"] = *state.seed_us / *us;
  Json over = Json::object();
  for (const auto& [name, baseline] : state.baselines) {
    const std::optional<double> theirs = score_of(baseline.times);
    if (us && theirs && baseline.kind == state.kind()) over[name] = *theirs / *us;
  }
  card["over_baseline"] = std::move(over);
}

void add_session(Json& card, const SessionState& state) {
  if (!state.start) return;
  card["task"] = state.start->task;
  card["variant"] = state.start->variant;
  card["task_sha256"] = state.start->task_sha256;
  card["agent"] = state.start->agent;
  card["harness_version"] = state.start->harness_version;
  card["rules"] = state.start->rules;
}

void add_device(Json& card, const SessionState& state) {
  if (!state.device) return;
  const DeviceSeen& device = *state.device;
  card["device"] = {{"kind", device.kind},     {"name", device.name}, {"uuid", device.uuid},
                    {"target", device.target}, {"sms", device.sms},   {"nvrtc_version", device.nvrtc_version}};
}

void add_candidate(Json& card, const Attempt& attempt) {
  card["candidate"] = attempt.candidate.id;
  card["parent"] = attempt.candidate.parent;
  card["source_sha256"] = attempt.candidate.source_sha256;
  card["tunables"] = attempt.candidate.tunables;
  card["note"] = attempt.candidate.note;
  if (attempt.compile) {
    card["registers"] = attempt.compile->registers;
    card["spill_bytes"] = attempt.compile->spill_bytes;
    card["cubin_sha256"] = attempt.compile->cubin_sha256;
  }
  if (attempt.decision) {
    card["verdict"] = attempt.decision->verdict;
    card["outcome"] = attempt.decision->outcome;
    card["reason"] = attempt.decision->reason;
  }
}

}  // namespace

std::string card_json(const SessionState& state, const std::string& candidate, const std::string& run_name) {
  Json card = {{"format", "onelaunch.card/1"}};
  add_session(card, state);
  if (const Attempt* attempt = state.find(candidate)) {
    add_candidate(card, *attempt);
    add_times(card, state, *attempt);
    card["verified"] = state.verified() && state.best == candidate;
    card["from"] = {{"run", run_name}, {"seq", attempt->seq}};
  }
  add_device(card, state);
  return card.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace onelaunch::traces
