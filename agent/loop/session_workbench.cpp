#include "agent/loop/session_workbench.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "agent/loop/ceilings_report.h"
#include "agent/loop/grading.h"
#include "agent/loop/profile_report.h"
#include "sandbox/host/compile_cache.h"
#include "sandbox/host/disassembler.h"
#include "traces/reader.h"

namespace onelaunch::agent {
namespace {

constexpr std::chrono::milliseconds kLookAgain{50};
constexpr double kToolLimit_s = 900;  // of anything but a compile

// While it lives, interrupts the sandbox for as long as `wanted` says so: an interrupt that comes before the work began
// would be lost.
class Watch {
 public:
  Watch(std::function<bool()> wanted, sandbox::Sandbox& sandbox)
      : thread_([this, wanted = std::move(wanted), &sandbox] {
          std::unique_lock lock(mutex_);
          while (!over_) {
            if (wanted()) sandbox.interrupt();
            wake_.wait_for(lock, kLookAgain, [this] { return over_; });
          }
        }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

const sandbox::Outcome& outcome_of(const sandbox::Compiled& compiled) { return compiled.outcome; }
const sandbox::Outcome& outcome_of(const sandbox::Grade& grade) { return grade.outcome; }
const sandbox::Outcome& outcome_of(const sandbox::KernelProfile& profile) { return profile.outcome; }

bool was_killed(const sandbox::Outcome& outcome) {
  return std::holds_alternative<sandbox::TimedOut>(outcome) || std::holds_alternative<sandbox::Crashed>(outcome);
}

}  // namespace

SessionWorkbench::SessionWorkbench(Workplace& place, const std::optional<Opened>& opened, OpenEmulated open_emulated)
    : place_(place), opened_(opened), emulation_(place.task, place.sandbox, place.clock, std::move(open_emulated)) {}

Workbench::Situation SessionWorkbench::situation() const {
  const traces::SessionState& state = place_.recorder.state();
  Situation now{.used_s = place_.budget.spent().count(),
                .left_s = place_.budget.left_for_work().count(),
                .wall_s = place_.budget.wall().count(),
                .evaluation_s = evaluation_s_,
                .decisions = state.decisions,
                .kept = state.kept,
                .modelled = place_.modelled()};
  if (!opened_) return now;
  now.incumbent = opened_->incumbent.id;
  now.best_us = opened_->incumbent.us;
  now.seed_us = opened_->seed.us;
  now.baseline = opened_->baseline;
  now.baseline_us = opened_->baseline_us;
  return now;
}

Result<std::string> SessionWorkbench::source_of(const std::string& id) const {
  for (const Report& report : history_)
    if (report.candidate == id) {
      if (!report.proposal.source.empty()) return report.proposal.source;
      return unavailable("the source of " + id + " is lost: its blob is damaged or gone");
    }
  std::string known = history_.empty() ? "none yet" : history_.front().candidate;
  if (history_.size() > 1) known += " to " + history_.back().candidate;
  return invalid("no judged attempt is called `" + id + "`; there are: " + known);
}

Error SessionWorkbench::cut_short() const {
  const char* why = place_.stopping() ? "the session has been asked to stop" : interrupted_ ? "it was cancelled" : "the time for it is over";
  return {.kind = Error::Kind::unavailable, .message = why};
}

// Within all deadlines, with its time attributed. A lost worker is given a second try; other failures of ours are recorded.
template <class Step>
auto SessionWorkbench::guarded(Spent spent, const std::string& what, sandbox::Sandbox& sandbox, Deadline deadline, Step step)
    -> decltype(step(deadline)) {
  const double limit_s = spent == Spent::compile ? place_.limits.compile_s : kToolLimit_s;
  const Deadline end = place_.within(limit_s, {std::min(deadline.at, work_end().at)});
  const Deadline last{std::min(deadline.at, work_end().at)};
  interrupted_ = false;
  const Spending spending(place_.meter, spent);
  for (int tries = 1;; ++tries) {
    if (ended(last)) return tl::unexpected(cut_short());
    auto result = [&] {
      const Watch watch([this] { return interrupted_ || place_.stopping(); }, sandbox);
      return step(end);
    }();
    if (result && !(was_killed(outcome_of(*result)) && ended(last))) return result;
    if (ended(last)) return tl::unexpected(cut_short());
    if (result.error().kind == Error::Kind::invalid_input) return result;
    place_.recorder.infra_error(what + ": " + result.error().message, "");
    if (result.error().kind != Error::Kind::worker_lost || tries >= place_.limits.tries) return result;
  }
}

Result<sandbox::Compiled> SessionWorkbench::compile(const Proposal& proposal, Deadline deadline) {
  return guarded(Spent::compile, "compiling for the agent", place_.sandbox, deadline, [&](Deadline end) {
    return place_.sandbox.compile({.source = proposal.source, .tunables = proposal.tunables}, end);
  });
}

Result<sandbox::Grade> SessionWorkbench::emulate(const Proposal& proposal, const sandbox::GradeRequest& request, Deadline deadline) {
  const Result<sandbox::Sandbox*> found = emulation_.sandbox();
  if (!found) return because(found.error());
  sandbox::Sandbox& emulator = **found;
  return guarded(Spent::gate, "emulating for the agent", emulator, deadline, [&](Deadline end) -> Result<sandbox::Grade> {
    const Deadline compiled_by = place_.within(place_.limits.compile_s, end);
    auto compiled = emulator.compile({.source = proposal.source, .tunables = proposal.tunables}, compiled_by);
    if (!compiled) return because(compiled.error());
    return emulator.grade(*compiled, request, end);
  });
}

Result<std::string> SessionWorkbench::profile(const Proposal& proposal, Deadline deadline) {
  const auto profile = guarded(Spent::tool, "profiling for the agent", place_.sandbox, deadline, [&](Deadline end) {
    return place_.sandbox.profile({.source = proposal.source, .tunables = proposal.tunables}, end);
  });
  if (!profile) return because(profile.error());
  return profile->log + profile_text(*profile);
}

Result<std::string> SessionWorkbench::microbench(Deadline) {
  return ceilings_report(place_.task, device(), sandbox::default_cache_folder(), place_.clock.utc_now());
}

Result<std::string> SessionWorkbench::machine_code(const sandbox::Compiled& compiled, Deadline deadline) {
  const Spending spending(place_.meter, Spent::tool);
  sandbox::Interrupts nobody;
  const sandbox::Interrupts::Scope interrupts(nobody);
  return sandbox::disassembly(compiled.cubin, place_.clock, {std::min(deadline.at, work_end().at)}, interrupts)
      .transform([](const sandbox::Disassembly& made) { return made.text; });
}

void SessionWorkbench::interrupt() { interrupted_ = true; }

void SessionWorkbench::record(const traces::Event& event) {
  if (const auto* wait = std::get_if<traces::Wait>(&event)) waits_s_ += wait->seconds;
  place_.recorder.write(event);
}

Result<std::string> SessionWorkbench::stored(const std::string& sha256) const {
  return traces::read_blob(place_.recorder.writer().run(), sha256);
}

void SessionWorkbench::settle() {
  place_.meter.move(Spent::model, Spent::provider_retry, waits_s_);
  waits_s_ = 0;
}

}  // namespace onelaunch::agent
