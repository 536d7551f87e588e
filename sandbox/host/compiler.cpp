#include "sandbox/host/compiler.h"

#include <algorithm>

namespace onelaunch::sandbox {
namespace {

constexpr double kStartS = 30;        // for the worker to load NVRTC
constexpr double kGraceS = 5;         // the worker enforces the wall limit itself; this is for its answer
constexpr double kWallMinS = 0.1;

}  // namespace

Compiler::Compiler(std::filesystem::path worker, std::filesystem::path cache_folder, const Clock& clock)
    : worker_path_(std::move(worker)), cache_(std::move(cache_folder)), clock_(clock) {}

Result<std::unique_ptr<Compiler>> Compiler::start(std::filesystem::path worker, std::filesystem::path cache_folder,
                                                  const Clock& clock) {
  std::unique_ptr<Compiler> compiler(new Compiler(std::move(worker), std::move(cache_folder), clock));
  Interrupts nobody;
  if (auto spawned = compiler->respawn(Interrupts::Scope(nobody)); !spawned) return because(spawned.error());
  return compiler;
}

Result<void> Compiler::respawn(const Interrupts::Scope& interrupts) {
  auto spawned = WorkerProcess::spawn({worker_path_, "compile"}, clock_);
  if (!spawned) return because(spawned.error());
  worker_ = std::move(*spawned);
  const Answer answer =
      worker_->listen(Deadline::after(clock_, Seconds(kStartS)), interrupts, "starting the compile worker");
  if (std::holds_alternative<Interrupted>(answer)) return unavailable("interrupted");
  if (const Crashed* crashed = std::get_if<Crashed>(&answer)) return unavailable("the compile worker died: " + crashed->how);
  if (std::holds_alternative<TimedOut>(answer)) return unavailable("the compile worker did not start in time");
  auto hello = decode_compiler_hello(std::get<std::string>(answer));
  if (!hello) return because(hello.error(), "starting the compile worker");
  if (!hello->problem.empty()) return unavailable(hello->problem);
  hello_ = std::move(*hello);
  return {};
}

Result<CompileReply> Compiler::ask_worker(const CompileJob& job, const Interrupts::Scope& interrupts) {
  if (worker_ == nullptr || !worker_->alive())
    if (auto spawned = respawn(interrupts); !spawned) return because(spawned.error());
  const Deadline patience = Deadline::after(clock_, Seconds(job.limits.wall_s + kGraceS));
  const Answer answer = worker_->call(encode(job), -1, patience, interrupts, "compiling");
  if (std::holds_alternative<Interrupted>(answer)) return unavailable("interrupted");
  if (const Crashed* crashed = std::get_if<Crashed>(&answer))
    return fail(Error::Kind::worker_lost, "the compile worker died: " + crashed->how);
  if (std::holds_alternative<TimedOut>(answer)) {
    CompileReply late;
    late.status = CompileReply::Status::timed_out;
    return late;
  }
  auto reply = decode_compile_reply(std::get<std::string>(answer));
  if (!reply) return fail(Error::Kind::worker_lost, reply.error().message);
  if (reply->status == CompileReply::Status::unavailable) return unavailable("compiling: " + reply->how);
  return std::move(*reply);
}

Result<Compiler::Done> Compiler::compile(CompileJob job, Deadline deadline, const Interrupts::Scope& interrupts) {
  const std::string key = CompileCache::key(job, hello_.nvrtc_version);
  if (auto found = cache_.find(key)) return Done{std::move(*found), true};
  const std::lock_guard lock(mutex_);
  const double left_s = deadline.left(clock_).count();
  if (left_s <= 0) return unavailable("no time left to compile");
  job.limits.wall_s = std::max(std::min(job.limits.wall_s, left_s), kWallMinS);
  auto reply = ask_worker(job, interrupts);
  if (!reply) return because(reply.error());
  // A cache that cannot be written only costs time.
  [[maybe_unused]] const auto stored = cache_.store(key, *reply);
  return Done{std::move(*reply), false};
}

}  // namespace onelaunch::sandbox
