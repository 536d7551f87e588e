#include "sandbox/worker/compile_role.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "sandbox/protocol/messages.h"
#include "sandbox/worker/compile.h"
#include "sandbox/worker/confinement.h"
#include "sandbox/worker/include_scan.h"

namespace onelaunch::worker {
namespace {

using sandbox::ChannelEnd;
using sandbox::CompileJob;
using sandbox::CompileReply;
using sandbox::CompilerHello;
using sandbox::Frame;
using sandbox::FrameChannel;

constexpr std::uint64_t kAddressesPerByte = 8;
constexpr double kConfinementProbeS = 10;

// A forked child at work on one thing, and the socket on which it will answer. Killed and reaped when destroyed.
class Child {
 public:
  template <class Work>
  static std::optional<Child> start(Work work) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return std::nullopt;
    UniqueFd ours(pair[0]), theirs(pair[1]);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return std::nullopt;
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ours.reset();
      FrameChannel channel(std::move(theirs));
      channel.send(0, work(), -1, {});
      ::_exit(0);
    }
    return Child(pid, std::move(ours));
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    reap();
  }

  std::variant<Frame, ChannelEnd> answer(const Clock& clock, double wall_s) {
    return channel_.receive({&clock, Deadline::after(clock, Seconds(wall_s)), -1});
  }
  // "exit 3", "SIGSEGV": how it ended, once it has closed its side.
  std::string ending() {
    const int status = reap();
    if (WIFSIGNALED(status)) return std::string("SIG") + ::sigabbrev_np(WTERMSIG(status));
    return "exit " + std::to_string(WEXITSTATUS(status));
  }

 private:
  Child(pid_t pid, UniqueFd socket) : pid_(pid), channel_(std::move(socket)) {}
  int reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
    return status;
  }
  pid_t pid_;
  FrameChannel channel_;
};

// What confinement a child gets on this machine; also warms NVRTC up, whose companion library is loaded at the first
// compilation and could not be opened by a confined child.
CompilerHello hello(const Nvrtc& nvrtc, const Clock& clock) {
  CompilerHello hello;
  hello.nvrtc_version = nvrtc.version_text;
  CompileJob warm_up;
  warm_up.source = "extern \"C\" __global__ void warm_up() {}";
  warm_up.options = {"--gpu-architecture=sm_90a"};
  const CompileReply warm = compile(nvrtc, nvrtc.include, warm_up);
  if (warm.status != CompileReply::Status::compiled) {
    hello.problem = "NVRTC cannot compile an empty kernel: " + warm.how + warm.log;
    return hello;
  }
  auto probe = Child::start([&] { return std::string(name_of(confine_to_reading(nvrtc.include).containment)); });
  hello.containment = name_of(Containment::weak);
  if (!probe) return hello;
  const auto answer = probe->answer(clock, kConfinementProbeS);
  if (const Frame* frame = std::get_if<Frame>(&answer)) hello.containment = frame->body;
  return hello;
}

// Runs in the child.
std::string compile_confined(const Nvrtc& nvrtc, const CompileJob& job) {
  ::dup2(STDOUT_FILENO, STDERR_FILENO);  // to nowhere: what matters is in the log
  ProcessLimits limits;
  // On many cores the compiler's threads reserve far more addresses than they use memory.
  limits.address_space_bytes = kAddressesPerByte * job.limits.memory_bytes;
  limits.data_bytes = job.limits.memory_bytes;
  limits.file_bytes = job.limits.memory_bytes;  // the compiler may keep what it works on in anonymous files
  limits.cpu_seconds = static_cast<std::uint64_t>(job.limits.wall_s * 2) + 2;
  const ReaderConfinement confinement = confine_to_reading(nvrtc.include);
  apply(limits);
  if (confinement.containment == Containment::weak) {
    if (const auto forbidden = forbidden_include(job.source)) {
      CompileReply refusal;
      refusal.status = CompileReply::Status::failed;
      refusal.log = *forbidden;
      return encode(refusal);
    }
  }
  return encode(compile(nvrtc, confinement.new_root ? "/" : nvrtc.include, job));
}

CompileReply run(const Nvrtc& nvrtc, const CompileJob& job, const Clock& clock) {
  CompileReply reply;
  auto child = Child::start([&] { return compile_confined(nvrtc, job); });
  if (!child) {
    reply.how = std::string("cannot start a process: ") + std::strerror(errno);
    return reply;
  }
  const auto answer = child->answer(clock, job.limits.wall_s);
  if (const Frame* frame = std::get_if<Frame>(&answer)) {
    if (auto decoded = sandbox::decode_compile_reply(frame->body)) return *decoded;
    reply.status = CompileReply::Status::crashed;
    reply.how = "the compiler's answer was cut off";
  } else if (std::get<ChannelEnd>(answer).kind == ChannelEnd::Kind::timed_out) {
    reply.status = CompileReply::Status::timed_out;
  } else {
    reply.how = child->ending();
    const bool cpu = reply.how == "SIGXCPU";
    reply.status = cpu ? CompileReply::Status::timed_out : CompileReply::Status::crashed;
  }
  return reply;
}

}  // namespace

int serve_compiles(FrameChannel& host, const Clock& clock) {
  const auto nvrtc = Nvrtc::load();
  CompilerHello greeting;
  if (nvrtc)
    greeting = hello(*nvrtc, clock);
  else
    greeting.problem = nvrtc.error().message;
  if (host.send(0, encode(greeting), -1, {}) || !greeting.problem.empty()) return 1;
  for (;;) {
    auto received = host.receive({});
    if (const ChannelEnd* end = std::get_if<ChannelEnd>(&received)) return end->kind == ChannelEnd::Kind::closed ? 0 : 1;
    const Frame& frame = std::get<Frame>(received);
    const auto job = sandbox::decode_compile_job(frame.body);
    if (!job) return 1;
    const Seconds start = clock.now();
    CompileReply reply = run(*nvrtc, *job, clock);
    reply.seconds = (clock.now() - start).count();
    if (host.send(frame.nonce, encode(reply), -1, {})) return 1;
  }
}

}  // namespace onelaunch::worker
