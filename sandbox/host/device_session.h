#pragma once
// A candidate worker, spoken to in messages. Tells apart what a candidate did (an Outcome) and what we could not do.

#include <filesystem>
#include <functional>
#include <memory>
#include <variant>

#include "sandbox/host/worker_process.h"
#include "sandbox/protocol/messages.h"
#include "sandbox/protocol/outcome.h"

namespace onelaunch::sandbox {

class DeviceSession {
 public:
  // `role`: "emu", "cuda:0". Borrows clock and interrupts.
  static Result<DeviceSession> start(const std::filesystem::path& worker, const std::string& role, const Clock& clock,
                                     const Interrupts::Scope& interrupts);
  // Of a session that outlives the work that it was started for.
  void watch(const Interrupts::Scope& interrupts) { interrupts_ = &interrupts; }

  Result<DeviceFacts> facts(const std::string& target);

  // `launch_s`: how long one message may take; the deadline holds too. The outcome is never Passed.
  template <class Reply>
  using Said = Result<std::variant<Reply, Outcome>>;
  Said<SetupReply> set_up(const SetupJob& job, int weights_fd, Deadline deadline, double launch_s);
  // `meanwhile` runs in this process while the worker works.
  Said<RunReply> run(RunJob job, Deadline deadline, double launch_s, const std::function<void()>& meanwhile);
  // cuda only. The outcome is that of the candidate's launches.
  Said<TimeReply> time(TimeJob job, Deadline deadline);
  Said<CountReply> count(const CountJob& job, Deadline deadline, double launch_s);

 private:
  DeviceSession(std::unique_ptr<WorkerProcess> worker, const Clock& clock, const Interrupts::Scope& interrupts)
      : worker_(std::move(worker)), clock_(&clock), interrupts_(&interrupts), start_(clock.now()) {}

  std::unique_ptr<WorkerProcess> worker_;
  const Clock* clock_;
  const Interrupts::Scope* interrupts_;
  Seconds start_;
};

}  // namespace onelaunch::sandbox
