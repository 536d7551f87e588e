#include "tests/e2e/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace onelaunch::e2e {

Program::Program(const std::vector<std::string>& command, const std::string& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    if (::chdir(folder.c_str()) == 0) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (pipe_ >= 0) ::close(pipe_);
}

bool Program::read_some() {
  char part[4096];
  ssize_t got;
  do got = ::read(pipe_, part, sizeof part);
  while (got < 0 && errno == EINTR);
  if (got > 0) output_.append(part, static_cast<std::size_t>(got));
  return got > 0;
}

bool Program::read_until(const std::string& text) {
  for (;;) {
    const std::size_t found = output_.find(text);
    if (found != std::string::npos && output_.find('\n', found) != std::string::npos) return true;
    if (!read_some()) return false;
  }
}

void Program::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

Ended Program::wait() {
  while (read_some()) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), .out = output_};
}

std::string onelaunch_path() { return std::string(ONELAUNCH_BIN) + "/onelaunch"; }

Ended onelaunch(const std::vector<std::string>& arguments, const std::string& folder) {
  std::vector<std::string> command = {onelaunch_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Program(command, folder).wait();
}

}  // namespace onelaunch::e2e
