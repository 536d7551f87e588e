#include "agent/mcp/session_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace onelaunch::agent::mcp {
namespace {

constexpr int kNoProgram = 127;

int status_of(int waited) { return WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited); }

// Between fork and exec: system calls only. A group of its own, so that a terminal's Ctrl-C comes from us alone.
[[noreturn]] void become(char* const* words, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGINT);
  if (::getppid() != parent) ::_exit(kNoProgram);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::execv(words[0], words);
  ::_exit(kNoProgram);
}

}  // namespace

Result<SessionChild> SessionChild::start(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return unavailable(std::string("cannot start the session: ") + std::strerror(errno));
  if (pid == 0) become(words.data(), parent);
  return SessionChild(pid);
}

SessionChild::SessionChild(SessionChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(std::exchange(other.status_, {})) {}

bool SessionChild::running() {
  if (pid_ < 0 || status_) return false;
  int waited = 0;
  if (::waitpid(pid_, &waited, WNOHANG) == 0) return true;
  status_ = status_of(waited);
  return false;
}

int SessionChild::end() {
  if (pid_ < 0) return 0;
  if (!status_) {
    ::kill(pid_, SIGINT);
    int waited = 0;
    while (::waitpid(pid_, &waited, 0) < 0 && errno == EINTR) {
    }
    status_ = status_of(waited);
  }
  return *status_;
}

}  // namespace onelaunch::agent::mcp
