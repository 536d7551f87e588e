#include "sandbox/host/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

extern char** environ;

namespace onelaunch::sandbox {
namespace {

constexpr int kWorkerSocket = 3;
constexpr int kExitWaitMs = 2000;

std::uint64_t random_word() {
  std::uint64_t word = 0;
  while (::getrandom(&word, sizeof word, 0) < 0 && errno == EINTR) {}
  return word | 1;  // never the 0 of unasked messages
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return std::string("SIG") + ::sigabbrev_np(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

// Starts the executable with `socket` as descriptor 3 and no other descriptors but the standard ones.
int start(const WorkerProcess::Options& options, int socket, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerSocket + 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const std::string path = options.executable.string();
  std::string name = "onelaunch-worker", role = options.role;
  char* arguments[] = {name.data(), role.data(), nullptr};
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

void wait_for_exit(pid_t pid, int wait_ms) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd watched{process.get(), POLLIN, 0};
  if (process) ::poll(&watched, 1, wait_ms);
}

template <class To, class From>
To widen(From from) {
  return std::visit([](auto&& alternative) { return To(std::forward<decltype(alternative)>(alternative)); }, std::move(from));
}

}  // namespace

std::filesystem::path find_worker() {
  if (const char* path = std::getenv("ONELAUNCH_WORKER"); path != nullptr && *path != '\0') return path;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "onelaunch-worker";
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::spawn(const Options& options, const Clock& clock) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return unavailable(std::string("making a socket pair: ") + std::strerror(errno));
  UniqueFd ours(pair[0]), theirs(pair[1]);
  // dup2() onto itself would keep close-on-exec.
  if (theirs.get() == kWorkerSocket) theirs.reset(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kWorkerSocket + 1));
  pid_t pid = -1;
  if (const int error = start(options, theirs.get(), pid); error != 0)
    return unavailable("starting " + options.executable.string() + ": " + std::strerror(error));
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(ours), options.frame_bytes_max, clock));
}

WorkerProcess::WorkerProcess(pid_t pid, UniqueFd socket, std::size_t frame_bytes_max, const Clock& clock)
    : pid_(pid), channel_(std::move(socket), frame_bytes_max), clock_(clock), next_nonce_(random_word()) {}

WorkerProcess::~WorkerProcess() {
  if (alive()) end();
}

std::string WorkerProcess::end() {
  if (!alive()) return "it had ended before";
  // It may be on its way out by itself: then its own exit status tells more than our signal.
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
  }
  pid_ = -1;
  return how_it_ended(status);
}

std::variant<TimedOut, Crashed, Interrupted> WorkerProcess::lost(const ChannelEnd& end_of_channel, Seconds start,
                                                                const std::string& doing) {
  if (end_of_channel.kind == ChannelEnd::Kind::closed) {
    // The socket closed because the process is ending: its own status is about to come.
    wait_for_exit(pid_, kExitWaitMs);
    return Crashed{end()};
  }
  end();
  if (end_of_channel.kind == ChannelEnd::Kind::timed_out) return TimedOut{doing, (clock_.now() - start).count()};
  if (end_of_channel.kind == ChannelEnd::Kind::interrupted) return Interrupted{};
  return Crashed{"it said something that makes no sense: " + end_of_channel.message};
}

std::variant<std::uint64_t, TimedOut, Crashed, Interrupted> WorkerProcess::send(std::string_view request, int passed_fd,
                                                                                Deadline deadline,
                                                                                const Interrupts::Scope& interrupts,
                                                                                const std::string& doing) {
  using Sent = std::variant<std::uint64_t, TimedOut, Crashed, Interrupted>;
  if (!alive()) return Crashed{"it had ended before"};
  const Seconds start = clock_.now();
  const std::uint64_t nonce = next_nonce_++;
  if (const auto end = channel_.send(nonce, request, passed_fd, {&clock_, deadline, interrupts.fd()}))
    return widen<Sent>(lost(*end, start, doing));
  return nonce;
}

Answer WorkerProcess::receive(std::uint64_t nonce, Deadline deadline, const Interrupts::Scope& interrupts,
                              const std::string& doing) {
  if (!alive()) return Crashed{"it had ended before"};
  const Seconds start = clock_.now();
  auto received = channel_.receive({&clock_, deadline, interrupts.fd()});
  if (const ChannelEnd* end = std::get_if<ChannelEnd>(&received)) return widen<Answer>(lost(*end, start, doing));
  Frame& frame = std::get<Frame>(received);
  if (frame.nonce != nonce)
    return widen<Answer>(lost({ChannelEnd::Kind::malformed, "a reply to no request of ours"}, start, doing));
  return std::move(frame.body);
}

Answer WorkerProcess::listen(Deadline deadline, const Interrupts::Scope& interrupts, const std::string& doing) {
  return receive(0, deadline, interrupts, doing);
}

Answer WorkerProcess::call(std::string_view request, int passed_fd, Deadline deadline,
                           const Interrupts::Scope& interrupts, const std::string& doing) {
  auto sent = send(request, passed_fd, deadline, interrupts, doing);
  if (const std::uint64_t* nonce = std::get_if<std::uint64_t>(&sent)) return receive(*nonce, deadline, interrupts, doing);
  if (TimedOut* late = std::get_if<TimedOut>(&sent)) return std::move(*late);
  if (Crashed* crashed = std::get_if<Crashed>(&sent)) return std::move(*crashed);
  return Interrupted{};
}

}  // namespace onelaunch::sandbox
