#include "sandbox/host/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"

extern char** environ;

namespace onelaunch::sandbox {
namespace {

constexpr int kPollMs = 20;

// The child leads a group of its own, so that what it starts is ended with it. Negative: it could not be started.
pid_t start(const std::vector<std::string>& arguments, const std::filesystem::path& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t child = -1;
  if (::posix_spawnp(&child, words[0], &actions, &attributes, words.data(), environ) != 0) child = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

}  // namespace

PassingFolder::PassingFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "onelaunch-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

PassingFolder::~PassingFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<ProgramEnd> run_program(const std::vector<std::string>& arguments, const PassingFolder& folder, std::size_t output_bytes_max,
                               const Clock& clock, Deadline deadline, const Interrupts::Scope& interrupts) {
  const std::filesystem::path output = folder.path() / "output";
  const pid_t child = start(arguments, output);
  if (child < 0) return unavailable("cannot start " + arguments.front());
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      auto text = read_file(output, output_bytes_max);
      if (!text) return unavailable(arguments.front() + ": " + text.error().message);
      return ProgramEnd{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::move(*text)};
    }
    if (interrupts.raised() || deadline.passed(clock)) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return unavailable(interrupts.raised() ? "interrupted" : arguments.front() + " took too long");
    }
    pollfd watched{interrupts.fd(), POLLIN, 0};
    ::poll(&watched, 1, kPollMs);
  }
}

std::filesystem::path find_program(const std::string& name, const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> all;
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "" : variable;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t colon = std::min(path.find(':', at), path.size());
    if (colon > at) all.emplace_back(path.substr(at, colon - at));
    at = colon + 1;
  }
  all.insert(all.end(), folders.begin(), folders.end());
  for (const std::filesystem::path& folder : all)
    if (::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return {};
}

}  // namespace onelaunch::sandbox
