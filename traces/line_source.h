#pragma once
// The lines of a file, one at a time, in a buffer that grows to the longest line and no further.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace onelaunch::traces {

// A longer line is refused by writer and reader alike, so that memory stays bounded.
inline constexpr std::size_t kLineBytesMax = std::size_t{32} << 20;

class LineSource {
 public:
  static Result<LineSource> open(const std::filesystem::path& file);

  enum class Got { line, torn, end };
  // line: text() is the next whole line; torn: text() is what follows the last newline; end: nothing is left.
  Result<Got> next();
  // After torn or end, next() looks again for what has been written since; a torn text may be put back before.
  void put_back_torn() { begin_ -= text_.size(); }
  // Without the newline; at least LineParser::padding() readable bytes follow. Valid until next().
  std::string_view text() const { return text_; }
  std::uint64_t number() const { return number_; }              // of this line, from 1
  std::uint64_t whole_bytes() const { return whole_bytes_; }    // of the file, up to the end of this line

 private:
  explicit LineSource(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<bool> fill();  // false at the end of the file

  UniqueFd fd_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is read and not yet handed out
  std::string_view text_;
  std::uint64_t number_ = 0, whole_bytes_ = 0;
};

}  // namespace onelaunch::traces
