#include "agent/cli/redrive.h"

#include <algorithm>
#include <map>

#include "agent/cli/commands.h"
#include "agent/cli/open_device.h"
#include "agent/cli/regrade.h"
#include "tasks/catalog.h"
#include "traces/reader.h"

namespace onelaunch::cli {
namespace {

constexpr double kMoreTime = 10;  // than the recorded session had: this machine may be slower

class RecordedCandidates final : public RecordedProposals {
 public:
  RecordedCandidates(std::filesystem::path run, const traces::SessionState& state) : run_(std::move(run)) {
    for (const traces::Attempt& attempt : state.attempts)
      if (!attempt.is_seed()) candidates_.push_back(attempt.candidate);
  }
  Result<std::optional<Next>> next() override {
    if (at_ >= candidates_.size()) return std::optional<Next>();
    const traces::Candidate& candidate = candidates_[at_++];
    Result<std::string> source = traces::read_blob(run_, candidate.source_sha256);
    if (!source) return because(source.error(), "the source of " + candidate.id);
    return std::optional<Next>({candidate.id,
                                {.source = std::move(*source),
                                 .tunables = candidate.tunables,
                                 .parent = candidate.parent,
                                 .note = candidate.note,
                                 .prediction_us = candidate.prediction_us}});
  }

 private:
  std::filesystem::path run_;
  std::vector<traces::Candidate> candidates_;
  std::size_t at_ = 0;
};

// Proposes what is on record, one after the other, and writes down how each did.
class RecordedAgent final : public agent::Agent {
 public:
  RecordedAgent(RecordedProposals& proposals, const std::string& recorded_seed) : proposals_(proposals), recorded_seed_(recorded_seed) {}
  std::string name() const override { return "redrive"; }
  Result<void> begin(const agent::Brief& brief) override {
    if (!brief.history.empty()) now_[recorded_seed_] = brief.history.front().candidate;
    return {};
  }
  Result<std::optional<agent::Proposal>> ask(Deadline) override {
    Result<std::optional<RecordedProposals::Next>> next = proposals_.next();
    if (!next) return because(next.error());
    if (!*next) return std::optional<agent::Proposal>();
    asked_ = (*next)->id;
    agent::Proposal proposal = std::move((*next)->proposal);
    const auto parent = now_.find(proposal.parent);
    proposal.parent = parent == now_.end() ? "" : parent->second;
    return proposal;
  }
  void tell(const agent::Report& report) override {
    now_[asked_] = report.candidate;
    told_[asked_] = report;
  }
  bool looks_ahead() const override { return false; }
  const std::map<std::string, agent::Report>& told() const { return told_; }

 private:
  RecordedProposals& proposals_;
  std::string recorded_seed_, asked_;
  std::map<std::string, std::string> now_;  // recorded id -> today's
  std::map<std::string, agent::Report> told_;
};

// A trace calls what failed a gate reverted; its outcome says why.
std::string verdict_on_record(agent::Verdict verdict) {
  return verdict == agent::Verdict::reject ? "revert" : agent::name_of(verdict);
}

RedrivenDecision compare(const traces::Attempt& attempt, const std::map<std::string, agent::Report>& told) {
  RedrivenDecision decision{.id = attempt.candidate.id};
  if (attempt.decision) decision.recorded_verdict = attempt.decision->verdict, decision.recorded_outcome = attempt.decision->outcome;
  const auto found = told.find(attempt.candidate.id);
  if (found == told.end() || found->second.verdict == agent::Verdict::unjudged) return decision;
  decision.verdict = verdict_on_record(found->second.verdict);
  decision.outcome = found->second.outcome;
  decision.reason = found->second.reason;
  return decision;
}

const traces::Attempt* seed_of(const traces::SessionState& state) {
  const auto found = std::ranges::find_if(state.attempts, [](const traces::Attempt& attempt) { return attempt.is_seed(); });
  return found == state.attempts.end() ? nullptr : &*found;
}

agent::SessionOptions options_of(const traces::SessionState& state, const std::string& device) {
  agent::SessionOptions options;
  options.wall = Seconds(kMoreTime * state.start->wall_s);  // it ends with its last candidate
  options.min_gain = state.start->min_gain;
  options.session_seed = state.start->session_seed;
  if (!options.session_seed && state.end) options.session_seed = state.end->session_seed;
  options.harness_version = kHarnessVersion;
  options.device = device;
  return options;
}

void add_remarks(const tasks::Task& task, const traces::SessionState& state, RedriveReport& report) {
  if (task.sha256 != state.start->task_sha256) report.remarks.push_back("the task's file has changed since: other inputs, tolerances or rules");
  if (!state.model.empty()) report.remarks.push_back("the candidates that the model made are judged again; what it was told is not replayed");
  if (report.recorded_device != report.device) report.remarks.push_back("recorded on " + report.recorded_device + ": times and their decisions may differ");
}

}  // namespace

int RedriveReport::differing() const {
  return static_cast<int>(std::ranges::count_if(decisions, [](const RedrivenDecision& d) { return !d.verdict.empty() && !d.same(); }));
}

std::unique_ptr<RecordedProposals> recorded_candidates(const std::filesystem::path& run, const traces::SessionState& state) {
  return std::make_unique<RecordedCandidates>(run, state);
}

Result<RedriveReport> redrive_run(const RedriveRequest& request, const Clock& clock, agent::Observer& observer,
                                  const agent::StopRequest& stop) {
  const Result<traces::SessionState> state = recorded_state(request.run);
  if (!state) return because(state.error());
  const traces::Attempt* seed = seed_of(*state);
  if (seed == nullptr || state->attempts.size() < 2) return invalid(request.run.string() + " holds no candidates beside its seed");
  const Result<std::string> seed_source = traces::read_blob(request.run, seed->candidate.source_sha256);
  if (!seed_source) return because(seed_source.error(), "the source of the seed");
  const Result<tasks::Task> task = tasks::load_task(state->start->task, state->start->variant);
  if (!task) return because(task.error());
  const Result<std::string> device = choose_device(repeat_device(*state, request.device));
  if (!device) return because(device.error());
  DeviceOptions opened{.device = *device};
  if (!state->start->target.empty()) opened.target = state->start->target;
  const auto sandbox = open_device(*task, opened, clock);
  if (!sandbox) return because(sandbox.error());
  Result<traces::Writer> writer = traces::Writer::create(request.out, clock);
  if (!writer) return because(writer.error());
  const auto proposals = recorded_candidates(request.run, *state);
  RecordedAgent agent(*proposals, seed->candidate.id);
  agent::Session session(*task, *seed_source, {**sandbox, clock, agent, observer, stop, *writer}, options_of(*state, *device));
  const Result<agent::SessionResult> result = session.run();
  if (!result) return because(result.error());
  RedriveReport report{.run = request.run.string(), .task = task->name, .variant = task->variant,
                       .recorded_device = state->device ? state->device->name : "", .device = (*sandbox)->device().name};
  add_remarks(*task, *state, report);
  for (const traces::Attempt& attempt : state->attempts)
    if (!attempt.is_seed() && attempt.decision) report.decisions.push_back(compare(attempt, agent.told()));
  return report;
}

}  // namespace onelaunch::cli
