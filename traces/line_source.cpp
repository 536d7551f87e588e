#include "traces/line_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "traces/event_json.h"

namespace onelaunch::traces {
namespace {
constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
}

Result<LineSource> LineSource::open(const std::filesystem::path& file) {
  // Non-blocking, so that a named pipe in the place of a trace is refused below instead of waited for.
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return invalid("cannot open " + file.string() + ": " + std::strerror(errno));
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return invalid(file.string() + " is not a file");
  return LineSource(std::move(fd));
}

Result<bool> LineSource::fill() {
  const std::size_t held = end_ - begin_;
  if (held > kLineBytesMax) return invalid("longer than " + std::to_string(kLineBytesMax) + " bytes");
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, held);
    begin_ = 0, end_ = held;
  }
  const std::size_t room = std::max(kChunkBytes, held);
  if (buffer_.size() < held + room + LineParser::padding()) buffer_.resize(held + room + LineParser::padding());
  for (;;) {
    const ssize_t got = ::read(fd_.get(), buffer_.data() + end_, room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return invalid(std::string("cannot read: ") + std::strerror(errno));
    end_ += static_cast<std::size_t>(got);
    return got > 0;
  }
}

Result<LineSource::Got> LineSource::next() {
  std::size_t looked = 0;
  for (;;) {
    const std::size_t held = end_ - begin_;
    const char* from = buffer_.data() + begin_;
    const void* newline = held > looked ? std::memchr(from + looked, '\n', held - looked) : nullptr;
    if (newline) {
      text_ = {from, static_cast<std::size_t>(static_cast<const char*>(newline) - from)};
      begin_ += text_.size() + 1;
      whole_bytes_ += text_.size() + 1;
      ++number_;
      return Got::line;
    }
    looked = held;
    const Result<bool> more = fill();
    if (!more) return because(more.error(), "line " + std::to_string(number_ + 1));
    if (*more) continue;
    if (held == 0) return Got::end;
    text_ = {buffer_.data() + begin_, held};
    begin_ = end_;
    return Got::torn;
  }
}

}  // namespace onelaunch::traces
