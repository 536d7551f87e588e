#include "agent/loop/reporting.h"

#include "agent/loop/keep_rule.h"

namespace onelaunch::agent {
namespace {

Verdict verdict_of(const KeepDecision& decision) {
  if (decision.quarantine) return Verdict::quarantine;
  return decision.keep ? Verdict::keep : Verdict::revert;
}

void put_decision(Report& report, const KeepDecision& decision) {
  report.verdict = verdict_of(decision);
  report.reason = decision.reason;
  if (decision.us > 0) report.us = decision.us;
  report.n = decision.n;
  report.workers = decision.workers;
  report.discarded = decision.discarded;
  if (!(decision.ratio > 0)) return;
  report.over_incumbent = decision.ratio;
  report.low = decision.low;
  report.high = decision.high;
}

void put_times(Report& report, const std::vector<sandbox::Measurement>& times) {
  report.modelled = std::string(kind_of(times)) == "modelled";
  for (const sandbox::Measurement& time : times)
    report.times.push_back(
        {.context = time.context, .us = time.us_median, .low_us = time.us_low, .high_us = time.us_high});
}

Verdict verdict_on_record(const traces::Decision& decision) {
  if (decision.verdict == "keep") return Verdict::keep;
  if (decision.verdict == "quarantine") return Verdict::quarantine;
  return decision.outcome == "passed" ? Verdict::revert : Verdict::reject;
}

}  // namespace

std::optional<double> ratio_of(const std::optional<double>& reference, const std::optional<double>& us) {
  if (!reference || !us || !(*us > 0)) return std::nullopt;
  return *reference / *us;
}

Report report_on(const std::string& id, const Proposal& proposal, const Judgement& judgement, const Opened& opened,
                 double left_s, double min_gain) {
  Report report{.candidate = id, .proposal = proposal};
  report.incumbent = opened.incumbent.id;
  report.baseline = opened.baseline;
  report.left_s = left_s;
  if (!judgement.compiled.tunables.empty()) report.proposal.tunables = judgement.compiled.tunables;
  if (const auto& said = judgement.screened)
    report.screen = Report::Screen{.ratio = said->ratio, .low = said->low, .high = said->high, .said = said->reason};
  if (!judgement.judged) {
    report.outcome = "unjudged";
    report.reason = judgement.why;
    return report;
  }
  report.outcome = sandbox::name_of(judgement.grade.outcome);
  if (!judgement.passed()) {
    report.verdict = Verdict::reject;
    report.reason = sandbox::explain(judgement.grade.outcome);
    return report;
  }
  put_decision(report, judgement.decided ? *judgement.decided
                                         : decide_modelled(opened.incumbent.times, judgement.grade.times, min_gain));
  put_times(report, judgement.grade.times);
  report.over_seed = ratio_of(opened.seed.us, report.us);
  report.over_baseline = ratio_of(opened.baseline_us, report.us);
  return report;
}

traces::Decision decision_event(const Report& report, double seconds) {
  const bool named = report.verdict == Verdict::keep || report.verdict == Verdict::quarantine;
  traces::Decision event;
  event.candidate = report.candidate;
  event.verdict = named ? name_of(report.verdict) : "revert";
  event.outcome = report.outcome;
  event.us = report.us;
  event.ratio = report.over_incumbent;
  event.low = report.low;
  event.high = report.high;
  event.n = report.over_incumbent ? report.n : 0;
  event.incumbent = report.incumbent;
  event.reason = report.reason;
  event.seconds = seconds;
  if (const auto& screen = report.screen) {
    event.workers = report.workers;
    event.discarded = report.discarded;
    event.screen_ratio = screen->ratio, event.screen_low = screen->low, event.screen_high = screen->high;
  }
  return event;
}

void read_decision(const traces::Decision& decision, Report& report) {
  report.verdict = verdict_on_record(decision);
  report.outcome = decision.outcome;
  report.reason = decision.reason;
  report.us = decision.us;
  report.over_incumbent = decision.ratio;
  report.low = decision.low;
  report.high = decision.high;
  report.n = decision.n;
  report.workers = decision.workers.value_or(0);
  report.discarded = decision.discarded.value_or(0);
  if (decision.screen_ratio)
    report.screen = Report::Screen{.ratio = *decision.screen_ratio,
                                   .low = decision.screen_low.value_or(0),
                                   .high = decision.screen_high.value_or(0),
                                   .said = ""};
  report.incumbent = decision.incumbent;
}

}  // namespace onelaunch::agent
