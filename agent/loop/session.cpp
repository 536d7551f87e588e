#include "agent/loop/session.h"

#include <algorithm>
#include <utility>

#include "agent/loop/best_kernel.h"
#include "agent/loop/defaults.h"
#include "agent/loop/history.h"
#include "agent/loop/keep_rule.h"
#include "agent/loop/reporting.h"
#include "agent/loop/statistics.h"
#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

// Sessions of the same task under different rules do not share a board.
std::string rules_name(const tasks::Task& task) {
  return task.rules.empty() ? "" : task.name + "-" + sha256_hex(task.rules).substr(0, 8);
}

// A candidate that was compiled while another one was judged did not need the time that it then waited.
double decision_seconds(Seconds proposed, double compile_s, Seconds taken_up, Seconds decided) {
  const Seconds ready = std::max(taken_up, proposed + Seconds(compile_s));
  return compile_s + std::max(0.0, (decided - ready).count());
}

}  // namespace

Session::Session(const tasks::Task& task, std::string seed_source, SessionPorts ports, SessionOptions options,
                 std::optional<Continuation> continuation)
    : ports_(ports),
      options_(std::move(options)),
      seed_source_(std::move(seed_source)),
      continuation_(std::move(continuation)),
      budget_(ports.clock, options_.wall, Seconds(ports.writer.active_s())),
      meter_(ports.clock),
      recorder_(ports.writer, ports.clock, continuation_ ? continuation_->state : traces::SessionState{}),
      place_{.task = task,
             .sandbox = ports.sandbox,
             .clock = ports.clock,
             .observer = ports.observer,
             .stop = ports.stop,
             .recorder = recorder_,
             .budget = budget_,
             .meter = meter_,
             .limits = options_.limits},
      judge_(place_),
      weight_seed_(options_.session_seed ? *options_.session_seed : random_seed()),
      bench_(place_, opened_, std::move(ports.open_emulated)) {
  if (continuation_)
    for (const auto& [kind, seconds] : continuation_->attribution_s) meter_.add(kind, seconds);
  for (const traces::Attempt& attempt : recorder_.state().attempts) {
    if (!attempt.decision) continue;
    if (attempt.decision->workers.value_or(0) > 0) ++confirmations_;
    if (attempt.decision->seconds) decision_s_.push_back(*attempt.decision->seconds);
  }
}

Result<SessionResult> Session::run() {
  Result<void> opened = start().and_then([&] { return open(); });
  if (!opened) {
    const bool stopped = place_.stopping(), late = budget_.work_end().passed(ports_.clock);
    if (stopped) return close(StopReason::interrupted, "stopped before the first candidate");
    if (late) return close(StopReason::cap, "the time was used before the first candidate");
    return close(StopReason::error, opened.error().message)
        .and_then([&](const SessionResult&) -> Result<SessionResult> { return because(opened.error()); });
  }
  const StopReason reason = loop();
  return close(reason, failure_);
}

Result<void> Session::start() {
  const sandbox::DeviceInfo& device = ports_.sandbox.device();
  if (continuation_) {
    const auto& before = continuation_->state.device;
    recorder_.write(traces::Resume{.previous_uuid = before ? before->uuid : "",
                                   .uuid = device.uuid,
                                   .spent_s = budget_.spent().count(),
                                   .recovered_events = continuation_->events,
                                   .torn_line = continuation_->torn_line});
    if (const auto& begun = continuation_->state.start; begun && begun->wall_s != options_.wall.count())
      recorder_.write(traces::Note{.author = "onelaunch", .text = "the cap is now " + print_duration(options_.wall)});
  } else {
    traces::SessionStart event;
    event.harness_version = options_.harness_version;
    event.task = place_.task.name;
    event.variant = place_.task.variant.empty() ? "full" : place_.task.variant;
    event.task_sha256 = place_.task.sha256;
    event.agent = ports_.agent.name();
    event.device = options_.device;
    event.target = device.target;
    event.wall_s = options_.wall.count();
    event.reserve_s = budget_.reserve().count();
    event.min_gain = options_.min_gain;
    event.session_seed = options_.session_seed;
    event.containment = device.containment;
    event.rules = rules_name(place_.task);
    if (!place_.modelled()) event.error_rate = kSessionErrorRate;
    event.budget_usd = options_.budget_usd;
    event.budget_tokens = options_.budget_tokens;
    event.prompt_sha256 = options_.prompt_sha256;
    recorder_.write(event);
  }
  return recorder_.status();
}

Result<void> Session::open() {
  const auto weights =
      try_step(place_, "weights", "", budget_.work_end(), [&] { return ports_.sandbox.use_weights(weight_seed_); });
  if (!weights) return because(weights.error(), "making the weights");
  Result<Opened> opened = open_session(place_, judge_, seed_source_);
  if (!opened) return because(opened.error());
  opened_ = std::move(*opened);
  if (opened_->noise) {
    rule_ = MeasuredRule{.min_gain = options_.min_gain, .noise = *opened_->noise};
    ports_.observer.say("rule", "kept is what gains " + print_percent(rule_->least_gain()) + " or more in " +
                                    std::to_string(kConfirmingWorkers) + " fresh workers; at most " +
                                    print_percent(kSessionErrorRate) + " of such sessions keep what gains nothing");
  }
  if (const Result<void> saved = save_best(place_, opened_->incumbent); !saved) return saved;
  return ports_.agent.begin(brief());
}

Brief Session::brief() {
  Brief brief{.task = place_.task.name,
              .variant = place_.task.variant,
              .seed_source = opened_->seed.proposal.source,
              .history = judged_history(recorder_.state(), recorder_.writer().run()),
              .workbench = &bench_};
  bench_.begin(brief.history);
  bench_.expect_evaluation(evaluation_s());
  return brief;
}

// What judging a candidate takes: on a GPU one that needs its confirmation.
double Session::evaluation_s() const {
  return std::max((rule_ ? 1 + kConfirmingWorkers : 1) * budget_.longest_grade().count(), last_judgement_s_);
}

bool Session::time_for_another() const {
  const double confirmed_s = rule_ ? (1 + kConfirmingWorkers) * budget_.longest_grade().count() : 0;
  const double left_s = budget_.left_for_work().count();
  return left_s > 0.8 * last_judgement_s_ && left_s > confirmed_s && !budget_.work_end().passed(ports_.clock);
}

StopReason Session::loop() {
  std::optional<Entrant> next;
  const auto ends = [&](StopReason reason) { return drop(next), reason; };
  for (;;) {
    if (!recorder_.status() || lost_in_a_row_ >= options_.limits.unjudged_in_a_row) return ends(StopReason::error);
    failure_.clear();
    if (place_.stopping()) return ends(StopReason::interrupted);
    if (!time_for_another()) return ends(StopReason::cap);
    if (std::ssize(recorder_.state().attempts) > options_.limits.candidates) return ends(StopReason::budget);
    if (!next) next = next_entrant();
    const bool gave_up = lost_in_a_row_ >= options_.limits.unjudged_in_a_row;
    if (!next && (place_.stopping() || !recorder_.status() || gave_up)) continue;
    if (!next) return agent_ended();
    Entrant current = std::move(*next);
    next.reset();
    const bool worth_it = budget_.left_for_work().count() > 2 * last_judgement_s_;
    if (ports_.agent.looks_ahead() && worth_it) next = next_entrant();
    judge(std::move(current));
  }
}

StopReason Session::agent_ended() {
  const std::optional<AgentEnd> end = ports_.agent.ended();
  if (!end) return budget_.work_end().passed(ports_.clock) ? StopReason::cap : StopReason::finished;
  failure_ = end->why;
  return end->reason;
}

std::optional<Session::Entrant> Session::next_entrant() {
  ports_.observer.busy("waiting for " + ports_.agent.name());
  const Spending spending(meter_, Spent::model);
  auto proposal = try_step(place_, "asking " + ports_.agent.name(), "", budget_.work_end(),
                           [&] { return ports_.agent.ask(budget_.work_end()); });
  const bool over = place_.stopping() || budget_.work_end().passed(ports_.clock);
  if (!proposal && !over) give_up(proposal.error().message);
  if (!proposal || !*proposal) return std::nullopt;
  Entrant entrant{.id = "c" + std::to_string(recorder_.state().attempts.size()),
                  .proposal = std::move(**proposal),
                  .compiling = {},
                  .proposed = ports_.clock.now()};
  if (entrant.proposal.parent.empty()) entrant.proposal.parent = opened_->incumbent.id;
  fill_defaults(entrant.proposal);
  if (const traces::Attempt* before = left_undecided(entrant.proposal))
    entrant.id = before->candidate.id;
  else
    recorder_.candidate(entrant.id, entrant.proposal);
  entrant.compiling = judge_.start_compile(entrant.proposal, budget_.work_end());
  return entrant;
}

// An earlier leg ended while it judged this very proposal: it is judged now, under its own name.
const traces::Attempt* Session::left_undecided(const Proposal& proposal) const {
  if (!continuation_) return nullptr;
  const std::vector<traces::Attempt>& attempts = recorder_.state().attempts;
  const std::string source_sha256 = sha256_hex(proposal.source);
  for (std::size_t i = 0; i < std::min(attempts.size(), continuation_->state.attempts.size()); ++i) {
    const traces::Candidate& candidate = attempts[i].candidate;
    if (!attempts[i].decision && candidate.source_sha256 == source_sha256 && candidate.tunables == proposal.tunables)
      return &attempts[i];
  }
  return nullptr;
}

void Session::judge(Entrant entrant) {
  const Seconds start = ports_.clock.now();
  const Rivalry rivalry{.incumbent = opened_->incumbent, .rule = rule_ ? &*rule_ : nullptr, .test = confirmations_ + 1};
  Judgement judgement =
      judge_.judge(entrant.id, entrant.proposal, std::move(entrant.compiling), budget_.work_end(), &rivalry);
  last_judgement_s_ = (ports_.clock.now() - start).count();
  lost_in_a_row_ = judgement.judged || judgement.cut_short ? 0 : lost_in_a_row_ + 1;
  if (lost_in_a_row_ > 0) failure_ = judgement.why;
  const Report report =
      report_on(entrant.id, entrant.proposal, judgement, *opened_, budget_.left_for_work().count(), options_.min_gain);
  if (report.workers > 0) ++confirmations_;
  if (report.verdict != Verdict::unjudged) {
    decision_s_.push_back(decision_seconds(entrant.proposed, judgement.compiled.seconds, start, ports_.clock.now()));
    recorder_.write(decision_event(report, decision_s_.back()));
  }
  if (report.verdict == Verdict::keep && recorder_.status()) keep(entrant, judgement, *report.us);
  if (report.verdict != Verdict::unjudged) bench_.judged(report);
  bench_.expect_evaluation(evaluation_s());
  ports_.observer.decided(report);
  ports_.agent.tell(report);
}

void Session::keep(const Entrant& entrant, Judgement& judgement, double us) {
  Standing best{.id = entrant.id,
                .proposal = entrant.proposal,
                .compiled = std::move(judgement.compiled),
                .times = std::move(judgement.grade.times),
                .us = us};
  best.proposal.tunables = best.compiled.tunables;
  opened_->incumbent = std::move(best);
  const auto saved =
      try_step(place_, "checkpoint", entrant.id, budget_.end(), [&] { return save_best(place_, opened_->incumbent); });
  if (!saved) give_up(saved.error().message);  // a kept kernel that cannot be saved
}

void Session::give_up(const std::string& why) {
  failure_ = why;
  lost_in_a_row_ = options_.limits.unjudged_in_a_row;
}

// What was compiling ahead is not judged any more.
void Session::drop(std::optional<Entrant>& entrant) {
  if (!entrant) return;
  if (entrant->compiling.wait_for(std::chrono::seconds(0)) != std::future_status::ready) ports_.sandbox.interrupt();
  entrant->compiling.wait();
  entrant.reset();
}

Result<SessionResult> Session::close(StopReason reason, const std::string& detail) {
  place_.stops_tolerated = 1;  // the first ends the work, which has ended; only a second one ends the closing too
  SessionResult result{.reason = reason, .detail = detail};
  Regraded regraded = Regraded::skipped;
  if (opened_ && recorder_.status()) regraded = regrade_best(place_, opened_->incumbent);
  result.verified = regraded == Regraded::passed;
  if (opened_) {
    result.best = opened_->incumbent.id;
    result.best_us = opened_->incumbent.us;
    result.seed_us = opened_->seed.us;
    result.baseline = opened_->baseline;
    result.baseline_us = opened_->baseline_us;
    result.kind = kind_of(opened_->incumbent.times);
    publish(result, regraded);
  }
  if (rule_) result.noise_half_width = rule_->noise.half_width, result.least_gain = rule_->least_gain();
  result.confirmations = confirmations_;
  result.decisions = recorder_.state().decisions;
  result.kept = recorder_.state().kept;
  bench_.settle();
  result.attribution_s = meter_.totals();
  const traces::SessionState& state = recorder_.state();
  result.model_turns = state.model_turns;
  result.input_tokens = state.input_tokens, result.output_tokens = state.output_tokens;
  if (state.cost_told) result.cost_usd = state.cost_usd;
  if (const double active_s = recorder_.writer().active_s(); active_s > 0)
    result.experiments_per_hour = result.decisions * 3600 / active_s;
  if (!decision_s_.empty()) result.decision_s_median = median_of(decision_s_);
  recorder_.write(traces::SessionEnd{.reason = name_of(reason),
                                     .detail = detail,
                                     .best = result.best,
                                     .best_us = result.best_us,
                                     .over_seed = ratio_of(result.seed_us, result.best_us),
                                     .over_baseline = ratio_of(result.baseline_us, result.best_us),
                                     .baseline = result.baseline,
                                     .decisions = result.decisions,
                                     .kept = result.kept,
                                     .attribution_s = result.attribution_s,
                                     .session_seed = weight_seed_,
                                     .experiments_per_hour = result.experiments_per_hour,
                                     .decision_s_median = result.decision_s_median});
  result.active_s = recorder_.writer().active_s();
  if (!recorder_.status()) return because(recorder_.status().error());
  if (const Result<void> bundled = write_bundle(recorder_); !bundled) return because(bundled.error());
  return result;
}

// Only what was kept over the seed and passed again is worth a place among the published kernels.
void Session::publish(SessionResult& result, Regraded regraded) {
  if (options_.publish.empty() || regraded != Regraded::passed || opened_->incumbent.id == opened_->seed.id) return;
  const Result<std::filesystem::path> place = publish_best(recorder_.writer().run(), options_.publish);
  if (place)
    result.published = *place;
  else
    recorder_.infra_error(place.error().message, opened_->incumbent.id);
}

}  // namespace onelaunch::agent
