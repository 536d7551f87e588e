#include "sandbox/host/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace onelaunch::sandbox {
namespace {

std::string owner_of(int file) {
  std::array<char, 512> text{};
  const ssize_t bytes = ::pread(file, text.data(), text.size() - 1, 0);
  return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : "an unknown process";
}

}  // namespace

std::filesystem::path default_lock_folder() {
  const char* chosen = std::getenv("ONELAUNCH_LOCKS");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp/onelaunch-locks";
}

Result<DeviceLock> DeviceLock::take(const std::filesystem::path& folder, const std::string& uuid, const std::string& purpose,
                                    const Clock& clock) {
  std::error_code error;
  if (std::filesystem::create_directories(folder, error)) ::chmod(folder.c_str(), 01777);  // other users lock here too
  const std::filesystem::path path = folder / (uuid + ".lock");
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file)
    return unavailable("locking the GPU: " + path.string() + ": " + std::strerror(errno) +
                       "; set ONELAUNCH_LOCKS to a folder that you may write to");
  ::fchmod(file.get(), 0666);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return unavailable("the GPU " + uuid + " is in use by " + owner_of(file.get()) +
                       "; wait for it to end, or name another with --device cuda:N");
  const std::string owner = "pid " + std::to_string(::getpid()) + " since " + clock.utc_now() + " (" + purpose + ")";
  const bool recorded = ::ftruncate(file.get(), 0) == 0 &&
                        ::pwrite(file.get(), owner.data(), owner.size(), 0) == static_cast<ssize_t>(owner.size());
  if (!recorded) return unavailable("locking the GPU: writing to " + path.string() + ": " + std::strerror(errno));
  return DeviceLock(std::move(file));
}

}  // namespace onelaunch::sandbox
