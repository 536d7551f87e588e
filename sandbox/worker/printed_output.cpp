#include "sandbox/worker/printed_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace onelaunch::worker {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

PrintedOutput::PrintedOutput(int descriptor) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  read_.reset(ends[0]);
  ::fcntl(ends[1], F_SETPIPE_SZ, kBytesMax);
  ::dup2(ends[1], descriptor);
  ::close(ends[1]);
  if (descriptor == STDOUT_FILENO) std::setvbuf(stdout, nullptr, _IONBF, 0);
}

std::string PrintedOutput::take(bool& truncated) {
  std::string text(kBytesMax, '\0');
  const ssize_t bytes = ::read(read_.get(), text.data(), text.size());
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  // A full pipe has no room for the next line, yet may hold a little less than its size.
  truncated = text.size() + kPageBytes > static_cast<std::size_t>(kBytesMax);
  return text;
}

}  // namespace onelaunch::worker
