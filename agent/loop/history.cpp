#include "agent/loop/history.h"

#include <algorithm>

#include "agent/loop/reporting.h"
#include "agent/loop/time_meter.h"
#include "traces/reader.h"

namespace onelaunch::agent {
namespace {

// What the time before an event of this kind was spent on.
struct SpentBefore {
  Spent operator()(const traces::Candidate&) const { return Spent::model; }
  Spent operator()(const traces::ModelResponse&) const { return Spent::model; }
  Spent operator()(const traces::Compile&) const { return Spent::compile; }
  Spent operator()(const traces::Gate&) const { return Spent::gate; }
  Spent operator()(const traces::Control&) const { return Spent::gate; }
  Spent operator()(const traces::Measurement&) const { return Spent::measure; }
  Spent operator()(const traces::Baseline&) const { return Spent::measure; }
  Spent operator()(const traces::Regrade&) const { return Spent::gate; }
  Spent operator()(const traces::ToolResult&) const { return Spent::tool; }
  Spent operator()(const traces::Wait& wait) const {
    return wait.what.starts_with("provider") ? Spent::provider_retry : Spent::lock_wait;
  }
  template <class E>
  Spent operator()(const E&) const {
    return Spent::idle;
  }
};

}  // namespace

std::vector<Report> judged_history(const traces::SessionState& state, const std::filesystem::path& run) {
  std::map<std::string, std::string> sources;
  std::vector<Report> history;
  const traces::Baseline* baseline = state.baseline();
  const std::optional<double> baseline_us = baseline ? traces::score_of(baseline->times) : std::nullopt;
  for (const traces::Attempt& attempt : state.attempts) {
    if (!attempt.decision) continue;
    const std::string& hash = attempt.candidate.source_sha256;
    if (!sources.contains(hash)) sources[hash] = traces::read_blob(run, hash).value_or("");
    Report report{.candidate = attempt.candidate.id,
                  .proposal = {.source = sources[hash],
                               .tunables = attempt.candidate.tunables,
                               .parent = attempt.candidate.parent,
                               .note = attempt.candidate.note,
                               .prediction_us = attempt.candidate.prediction_us}};
    read_decision(*attempt.decision, report);
    if (attempt.is_seed()) report.reason = "the seed: what the session starts from";  // however often it was measured
    for (const auto& [context, time] : state.times_of(attempt.candidate.id))
      report.times.push_back(
          {.context = context, .us = time.us_median, .low_us = time.us_low, .high_us = time.us_high});
    report.over_seed = ratio_of(state.seed_us, report.us);
    report.over_baseline = ratio_of(baseline_us, report.us);
    if (baseline) report.baseline = baseline->name;
    if (!attempt.measurements.empty()) report.modelled = attempt.measurements.back().kind == "modelled";
    history.push_back(std::move(report));
  }
  return history;
}

void PastSpending::add(const traces::Record& record) {
  seconds_[name_of(std::visit(SpentBefore{}, record.event))] += std::max(0.0, record.t - last_t_);
  last_t_ = std::max(last_t_, record.t);
}

}  // namespace onelaunch::agent
