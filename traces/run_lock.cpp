#include "traces/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace onelaunch::traces {
namespace {

std::string holder(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
  std::string pid(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  pid.erase(pid.find_last_not_of(" \n") + 1);
  return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

Result<RunLock> RunLock::take(const std::filesystem::path& run) {
  const std::filesystem::path path = run / "writer.lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return unavailable("cannot write in " + run.string() + ": " + std::strerror(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return unavailable(holder(fd.get()) + " is writing to " + run.string());
    return unavailable("cannot lock " + path.string() + ": " + std::strerror(errno));
  }
  // The process id only serves the message above, so that failing to write it (disk full) is no reason to stop.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) == 0 && ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0) errno = 0;
  return RunLock(std::move(fd));
}

}  // namespace onelaunch::traces
