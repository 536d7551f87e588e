#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/unique_fd.h"

namespace onelaunch {
namespace {

std::string reason() { return std::strerror(errno); }

Result<void> write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return unavailable("write: " + reason());
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return invalid("cannot open " + path.string() + ": " + reason());
  std::string content;
  char part[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return invalid("cannot read " + path.string() + ": " + reason());
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > bytes_max)
      return invalid(path.string() + " is larger than the limit of " + std::to_string(bytes_max) + " bytes");
    content.append(part, static_cast<std::size_t>(got));
  }
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::filesystem::create_directories(folder, error);
  if (error) return unavailable("cannot create " + folder.string() + ": " + error.message());
  std::string temporary = (folder / (".new-" + path.filename().string() + "-XXXXXX")).string();
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return unavailable("cannot write in " + folder.string() + ": " + reason());
  ::fchmod(fd.get(), 0644);
  Result<void> done = write_all(fd.get(), content);
  if (done && ::fsync(fd.get()) != 0) done = unavailable("sync: " + reason());
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) done = unavailable("rename: " + reason());
  if (!done) {
    ::unlink(temporary.c_str());
    return because(done.error(), "writing " + path.string());
  }
  return {};
}

}  // namespace onelaunch
