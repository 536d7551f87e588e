#include "agent/llm/sse.h"

#include <utility>

namespace onelaunch::llm {
namespace {
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}

bool SseParser::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty() && !overflowed_) {
    // A line feed that follows a carriage return ends no line of its own, also when the two come apart.
    if (std::exchange(after_return_, false) && bytes.front() == '\n') bytes.remove_prefix(1);
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    overflowed_ = line_.size() + event_.data.size() > bytes_max_;
    if (end == std::string_view::npos || overflowed_) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(sink);
  }
  return !overflowed_;
}

void SseParser::finish(const Sink& sink) {
  if (overflowed_) return;
  if (!line_.empty()) end_line(sink);
  dispatch(sink);
}

void SseParser::end_line(const Sink& sink) {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    dispatch(sink);
  } else if (const std::size_t colon = line.find(':'); colon != 0) {  // a leading colon is a comment
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    field(line.substr(0, colon), value);
  }
  line_.clear();
}

void SseParser::field(std::string_view name, std::string_view value) {
  if (name == "event") {
    event_.name = value;
  } else if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  }
}

void SseParser::dispatch(const Sink& sink) {
  SseEvent event = std::exchange(event_, {});
  if (std::exchange(has_data_, false)) sink(std::move(event));
}

}  // namespace onelaunch::llm
