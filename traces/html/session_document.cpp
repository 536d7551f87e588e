#include "traces/html/session_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "traces/attempt_text.h"
#include "traces/event_json.h"
#include "traces/event_line.h"
#include "traces/reader.h"
#include "traces/text.h"

namespace onelaunch::traces {
namespace {

using Json = nlohmann::ordered_json;

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json positive(double value) { return value > 0 ? Json(value) : Json(); }

struct EventLine {
  std::uint64_t seq = 0;
  double t = 0;
  std::string type, candidate, text;
  bool minor = false;  // left out first
};

// All that the page needs, gathered in one pass over the trace.
struct Gathered {
  SessionState state;
  std::string started;
  std::map<std::string, double> decided_at;
  std::vector<EventLine> events;
  Json spend = Json::array();  // [t, output tokens so far, US dollars so far]
  bool costed = false;

  void take(const Record& record) {
    if (started.empty()) started = record.ts;
    state.apply(record);
    EventLine line{.seq = record.seq, .t = record.t, .type = type_of(record.event),
                   .candidate = candidate_of(record.event), .text = event_line(record.event)};
    if (const auto* gate = std::get_if<Gate>(&record.event)) line.minor = gate->verdict == "pass";
    if (const auto* sample = std::get_if<Measurement>(&record.event)) line.minor = sample->timing != "primary";
    events.push_back(std::move(line));
    if (const auto* decision = std::get_if<Decision>(&record.event)) decided_at[decision->candidate] = record.t;
    if (const auto* response = std::get_if<ModelResponse>(&record.event)) {
      costed = costed || response->cost_usd.has_value();
      spend.push_back({record.t, state.output_tokens, costed ? Json(state.cost_usd) : Json()});
    }
  }

  std::size_t shorten(std::size_t most) {
    const std::size_t all = events.size();
    if (all <= most) return 0;
    std::erase_if(events, [](const EventLine& line) { return line.minor; });
    if (events.size() > most)
      events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(most));
    return all - events.size();
  }
};

Json times_json(const std::vector<ContextTime>& times) {
  Json list = Json::array();
  for (const ContextTime& time : times)
    list.push_back({{"context", time.context}, {"us", time.us_median}, {"low", positive(time.us_low)},
                    {"high", positive(time.us_high)}, {"n", time.n}});
  return list;
}

Json terms_json(const Gathered& all) {
  const SessionStart& start = *all.state.start;
  Json json = {{"task", start.task}, {"variant", start.variant}, {"agent", start.agent},
               {"harness_version", start.harness_version}, {"rules", start.rules}, {"containment", start.containment},
               {"target", start.target}, {"wall_s", start.wall_s}, {"reserve_s", start.reserve_s},
               {"min_gain", start.min_gain}, {"budget_usd", maybe(start.budget_usd)}, {"started", all.started}};
  if (start.budget_tokens) json["budget_tokens"] = *start.budget_tokens;
  return json;
}

Json device_json(const SessionState& state) {
  Json json = {{"name", state.start->device}};
  if (state.device) {
    const DeviceSeen& device = *state.device;
    json = {{"name", device.name}, {"kind", device.kind}, {"uuid", device.uuid}, {"sms", device.sms},
            {"nvrtc_version", device.nvrtc_version}, {"driver_version", device.driver_version}};
  }
  if (state.ceilings) {
    json["stream_tb_s"] = state.ceilings->stream_tb_s;
    json["grid_barrier_us"] = state.ceilings->grid_barrier_us;
    json["launch_us"] = state.ceilings->launch_us;
    json["modelled"] = state.ceilings->modelled;
  }
  return json;
}

Json baselines_json(const SessionState& state) {
  Json list = Json::array();
  for (const auto& [name, baseline] : state.baselines)
    list.push_back({{"name", name}, {"kind", baseline.kind}, {"us", maybe(score_of(baseline.times))},
                    {"launches", baseline.launches}, {"correct", baseline.correct},
                    {"headline", state.baseline() == &baseline}, {"times", times_json(baseline.times)}});
  return list;
}

Json controls_json(const SessionState& state) {
  Json list = Json::array();
  for (const Control& control : state.controls)
    list.push_back({{"name", control.name}, {"ok", control.failed_as_it_must}, {"outcome", control.outcome}});
  return list;
}

std::vector<ContextTime> best_times(const SessionState& state) {
  if (state.verified() && !state.regrade->times.empty()) return state.regrade->times;
  std::vector<ContextTime> times;
  for (const auto& [context, time] : state.times_of(state.best)) times.push_back(time);
  return times;
}

Json contexts_json(const SessionState& state) {
  Json list = times_json(best_times(state));
  const Baseline* baseline = state.baseline();
  for (Json& row : list) {
    const auto context = row["context"].get<std::int64_t>();
    if (state.ceilings)
      for (const auto& floor : state.ceilings->floors)
        if (floor.context == context) row["floor_us"] = floor.us, row["bytes"] = positive(floor.bytes);
    if (baseline && baseline->kind == state.kind())
      for (const ContextTime& time : baseline->times)
        if (time.context == context) row["baseline_us"] = time.us_median;
  }
  return list;
}

Json phase_list(std::int64_t context, const std::vector<Phase>& phases, const std::optional<double>& clock_mhz) {
  Json list = Json::array();
  for (const Phase& phase : phases)
    list.push_back({{"name", phase.name}, {"bound", phase.bound}, {"us", phase.us}, {"dram_mb", phase.dram_mb},
                    {"warp_instructions", phase.warp_instructions}});
  return {{"context", context}, {"phases", list}, {"sm_clock_mhz", maybe(clock_mhz)}};
}

// Of the best kernel, the newest for each context.
Json phases_json(const SessionState& state, const std::map<std::int64_t, Profile>& profiles) {
  std::map<std::int64_t, Json> by_context;
  if (const Attempt* best = state.find(state.best))
    for (const Measurement& m : best->measurements)
      if (!m.phases.empty()) by_context[m.context] = phase_list(m.context, m.phases, m.sm_clock_mhz);
  for (const auto& [context, profile] : profiles)
    by_context[context] = phase_list(context, profile.phases, std::nullopt);
  Json list = Json::array();
  for (auto& [context, entry] : by_context) list.push_back(std::move(entry));
  return list;
}

std::string why_not(const Attempt& attempt) {
  for (const Gate& gate : attempt.gates)
    if (gate.verdict == "fail") return gate_line(gate);
  if (attempt.compile && !attempt.compile->ok) return one_line(attempt.compile->log, 240);
  return "";
}

Json attempt_json(const Gathered& all, const Attempt& attempt) {
  const Attempt* parent = all.state.find(attempt.candidate.parent);
  const auto decided = all.decided_at.find(attempt.candidate.id);
  Json json = {{"id", attempt.candidate.id}, {"parent", attempt.candidate.parent}, {"proposed", attempt.t},
               {"t", decided == all.decided_at.end() ? Json() : Json(decided->second)},
               {"changes", changes(attempt, parent)}, {"note", attempt.candidate.note},
               {"prediction_us", maybe(attempt.candidate.prediction_us)}, {"source", attempt.candidate.source_sha256},
               {"failure", why_not(attempt)}, {"seed", attempt.is_seed()}};
  if (attempt.compile && attempt.compile->ok)
    json["registers"] = attempt.compile->registers, json["spill_bytes"] = attempt.compile->spill_bytes;
  if (const auto& decision = attempt.decision) {
    json["verdict"] = decision->verdict;
    json["outcome"] = decision->outcome;
    json["us"] = maybe(decision->us ? decision->us : score_of(all.state.times_of(attempt.candidate.id)));
    json["ratio"] = maybe(decision->ratio);
    json["low"] = maybe(decision->low);
    json["high"] = maybe(decision->high);
    json["reason"] = decision->reason;
  }
  return json;
}

Json totals_json(const SessionState& state, bool costed) {
  return {{"decisions", state.decisions}, {"kept", state.kept}, {"active_s", state.active_s}, {"legs", state.legs},
          {"infra_errors", state.infra_errors}, {"turns", state.model_turns}, {"input_tokens", state.input_tokens},
          {"output_tokens", state.output_tokens}, {"cost_usd", costed ? Json(state.cost_usd) : Json()}};
}

Json result_json(const SessionState& state) {
  const std::vector<ContextTime> times = best_times(state);
  std::optional<double> us = score_of(times);
  if (!us) us = state.best_us;
  Json json = {{"best", state.best}, {"best_us", maybe(us)}, {"best_t", state.best_t},
               {"seed_us", maybe(state.seed_us)}, {"verified", state.verified()}, {"ended", state.end.has_value()}};
  if (state.end) {
    json["reason"] = state.end->reason;
    json["detail"] = state.end->detail;
    json["attribution_s"] = state.end->attribution_s;
    if (state.end->experiments_per_hour) json["experiments_per_hour"] = *state.end->experiments_per_hour;
  }
  if (state.regrade) {
    json["regrade"] = {{"outcome", state.regrade->outcome}, {"us", positive(state.regrade->us)},
                       {"quarantine", state.regrade->quarantine}};
  }
  return json;
}

Json events_json(const Gathered& all) {
  Json list = Json::array();
  for (const EventLine& line : all.events)
    list.push_back(Json::array({line.seq, line.t, line.type, line.candidate, line.text}));
  return list;
}

Json document(const Gathered& all, const std::string& name, const std::map<std::int64_t, Profile>& profiles) {
  const SessionState& state = all.state;
  Json json = {{"format", "onelaunch.report/1"}, {"run", name}, {"kind", state.kind()}, {"terms", terms_json(all)},
               {"device", device_json(state)}, {"result", result_json(state)}, {"totals", totals_json(state, all.costed)},
               {"baselines", baselines_json(state)}, {"controls", controls_json(state)},
               {"contexts", contexts_json(state)}, {"phases", phases_json(state, profiles)}};
  if (state.noise) json["noise"] = {{"half_width", state.noise->half_width}, {"n", state.noise->n}};
  json["attempts"] = Json::array();
  for (const Attempt& attempt : state.attempts) json["attempts"].push_back(attempt_json(all, attempt));
  json["spend"] = all.spend;
  json["events"] = events_json(all);
  return json;
}

// Null for what is there, else why it is not.
Json load_sources(const std::filesystem::path& run, const SessionState& state, std::map<std::string, std::string>& sources) {
  Json missing = Json::object();
  for (const Attempt& attempt : state.attempts) {
    const std::string& sha = attempt.candidate.source_sha256;
    if (sources.contains(sha) || missing.contains(sha)) continue;
    Result<std::string> text = read_blob(run, sha);
    if (text) sources.emplace(sha, std::move(*text));
    else missing[sha] = text.error().message;
  }
  return missing;
}

}  // namespace

Result<SessionDocument> session_document(const std::filesystem::path& run, std::size_t events_max) {
  const std::filesystem::path file = trace_file(run);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  Gathered all;
  std::map<std::string, std::map<std::int64_t, Profile>> profiles;
  const Result<ReadSummary> summary = read_trace(run, [&](const Record& record) {
    all.take(record);
    if (const auto* profile = std::get_if<Profile>(&record.event)) profiles[profile->candidate][profile->context] = *profile;
    return true;
  });
  if (!summary) return because(summary.error());
  if (!all.state.start) return invalid(file.string() + " holds no session yet");
  SessionDocument made;
  const std::string name = std::filesystem::absolute(folder).lexically_normal().filename().string();
  made.title = one_line(all.state.start->task + ", " + all.state.start->agent);
  const std::size_t left_out = all.shorten(events_max);
  Json json = document(all, name, profiles[all.state.best]);
  json["events_left_out"] = left_out;
  json["torn_last_line"] = summary->torn_last_line;
  json["missing_sources"] = load_sources(folder, all.state, made.sources);
  made.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return made;
}

}  // namespace onelaunch::traces
