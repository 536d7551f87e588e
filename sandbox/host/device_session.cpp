#include "sandbox/host/device_session.h"

#include <algorithm>

namespace onelaunch::sandbox {
namespace {

constexpr double kAnswerS = 30;   // to a question that takes no work
constexpr double kGraceS = 5;     // the worker ends a launch itself; this is for its answer
constexpr double kTimingGraceS = 15;  // a hung chain is found by the worker, which then says so
constexpr std::size_t kFaultsShown = 3;

// An answer that is no reply: what the candidate did, or that we were interrupted.
template <class Reply>
DeviceSession::Said<Reply> without_reply(Answer& answer) {
  if (TimedOut* late = std::get_if<TimedOut>(&answer)) return Outcome(std::move(*late));
  if (Crashed* crashed = std::get_if<Crashed>(&answer)) return Outcome(std::move(*crashed));
  return unavailable("interrupted");
}

Outcome outcome_of(const std::vector<LaunchFault>& faults, const std::string& entry, double limit_s, double seconds) {
  std::string message;
  for (std::size_t i = 0; i < std::min(faults.size(), kFaultsShown); ++i)
    message.append(i > 0 ? "\n" : "").append(faults[i].message);
  if (faults.size() > kFaultsShown) message += "\nand " + std::to_string(faults.size() - kFaultsShown) + " more";
  const std::string& kind = faults.front().kind;
  if (kind == "time_limit") return TimedOut{entry + " (" + message + ")", limit_s};
  if (kind == "instruction_limit") return TimedOut{entry + " (" + message + ")", seconds};
  if (kind == "not_implemented") return Refused{kind, message};
  return Faulted{kind, entry + ": " + message};
}

}  // namespace

Result<DeviceSession> DeviceSession::start(const std::filesystem::path& worker, const std::string& role,
                                           const Clock& clock, const Interrupts::Scope& interrupts) {
  auto process = WorkerProcess::spawn({worker, role}, clock);
  if (!process) return because(process.error());
  return DeviceSession(std::move(*process), clock, interrupts);
}

Result<DeviceFacts> DeviceSession::facts(const std::string& target) {
  DeviceFacts wanted;
  wanted.target = target;
  Answer answer = worker_->call(encode(wanted), -1, Deadline::after(*clock_, Seconds(kAnswerS)), *interrupts_, "asking for the device");
  const std::string* body = std::get_if<std::string>(&answer);
  if (body == nullptr) return fail(Error::Kind::worker_lost, "the worker gave no answer about its device");
  auto facts = decode_device_facts(*body);
  if (facts && !facts->problem.empty()) return unavailable(facts->problem);
  return facts;
}

DeviceSession::Said<SetupReply> DeviceSession::set_up(const SetupJob& job, int weights_fd, Deadline deadline,
                                                      double launch_s) {
  const Deadline limit{std::min(deadline.at, clock_->now() + Seconds(launch_s))};
  Answer answer = worker_->call(encode(job), weights_fd, limit, *interrupts_, "loading the kernel");
  const std::string* body = std::get_if<std::string>(&answer);
  if (body == nullptr) return without_reply<SetupReply>(answer);
  auto reply = decode_setup_reply(*body);
  if (!reply) return Outcome(Crashed{reply.error().message});
  if (!reply->problem.empty()) return unavailable("setting up the device: " + reply->problem);
  if (!reply->refusal.empty()) return Outcome(Refused{"not_implemented", reply->refusal});
  return std::move(*reply);
}

DeviceSession::Said<RunReply> DeviceSession::run(RunJob job, Deadline deadline, double launch_s,
                                                 const std::function<void()>& meanwhile) {
  const double left_s = std::min(deadline.left(*clock_).count(), launch_s);
  if (left_s <= 0) return Outcome(TimedOut{"the check as a whole", (clock_->now() - start_).count()});
  for (std::vector<LaunchOrder>* orders : {&job.launches, &job.keep})
    for (LaunchOrder& order : *orders) order.seconds_max = left_s;
  const Deadline limit = Deadline::after(*clock_, Seconds(left_s + kGraceS));
  const std::string entry = job.launches.empty() ? "reading back" : job.launches.front().entry;
  auto sent = worker_->send(encode(job), -1, limit, *interrupts_, entry);
  if (TimedOut* late = std::get_if<TimedOut>(&sent)) return Outcome(std::move(*late));
  if (Crashed* crashed = std::get_if<Crashed>(&sent)) return Outcome(std::move(*crashed));
  if (std::holds_alternative<Interrupted>(sent)) return unavailable("interrupted");
  if (meanwhile) meanwhile();
  // The work meanwhile counts against nobody.
  const Deadline patience{std::max(limit.at, clock_->now() + Seconds(kGraceS))};
  Answer answer = worker_->receive(std::get<std::uint64_t>(sent), patience, *interrupts_, entry);
  const std::string* body = std::get_if<std::string>(&answer);
  if (body == nullptr) return without_reply<RunReply>(answer);
  auto reply = decode_run_reply(*body);
  if (!reply) return Outcome(Crashed{reply.error().message});
  if (!reply->problem.empty()) return fail(Error::Kind::internal, "running " + entry + ": " + reply->problem);
  if (!reply->launches.empty() && !reply->launches.back().faults.empty()) {
    const std::size_t last = reply->launches.size() - 1;
    const LaunchResult& launch = reply->launches.back();
    const std::string& of = last < job.launches.size() ? job.launches[last].entry : "a kept launch";
    return Outcome(outcome_of(launch.faults, of, left_s, launch.host_seconds));
  }
  if (reply->launches.size() != job.launches.size() + job.again.count || reply->reads.size() != job.reads.size())
    return Outcome(Crashed{"the worker's answer does not fit the question"});
  for (std::size_t i = 0; i < job.reads.size(); ++i)
    if (!job.reads[i].digest && reply->reads[i].size() != job.reads[i].bytes)
      return Outcome(Crashed{"the worker's answer does not fit the question"});
  return std::move(*reply);
}

DeviceSession::Said<TimeReply> DeviceSession::time(TimeJob job, Deadline deadline) {
  job.seconds_max = std::min(job.seconds_max, deadline.left(*clock_).count());
  if (job.seconds_max <= 0) return Outcome(TimedOut{"the check as a whole", (clock_->now() - start_).count()});
  const Deadline limit = Deadline::after(*clock_, Seconds(job.seconds_max + kTimingGraceS));
  Answer answer = worker_->call(encode(job), -1, limit, *interrupts_, "timing the kernel");
  const std::string* body = std::get_if<std::string>(&answer);
  if (body == nullptr) return without_reply<TimeReply>(answer);
  auto reply = decode_time_reply(*body);
  if (!reply) return Outcome(Crashed{reply.error().message});
  if (!reply->problem.empty()) return fail(Error::Kind::internal, "timing: " + reply->problem);
  if (!reply->faults.empty()) return outcome_of(reply->faults, "timing the kernel", job.seconds_max, job.seconds_max);
  for (const ChainSample& sample : reply->samples)
    if (sample.chain >= job.chains.size() || sample.reads.size() != job.chains[sample.chain].reads.size())
      return Outcome(Crashed{"the worker's answer does not fit the question"});
  return std::move(*reply);
}

DeviceSession::Said<CountReply> DeviceSession::count(const CountJob& job, Deadline deadline, double launch_s) {
  const Deadline limit{std::min(deadline.at, clock_->now() + Seconds(launch_s))};
  Answer answer = worker_->call(encode(job), -1, limit, *interrupts_, "counting launches");
  const std::string* body = std::get_if<std::string>(&answer);
  if (body == nullptr) return without_reply<CountReply>(answer);
  auto reply = decode_count_reply(*body);
  if (!reply) return Outcome(Crashed{reply.error().message});
  if (!reply->problem.empty()) return unavailable("counting launches: " + reply->problem);
  if (!reply->faults.empty()) return outcome_of(reply->faults, "counting launches", launch_s, launch_s);
  return std::move(*reply);
}

}  // namespace onelaunch::sandbox
