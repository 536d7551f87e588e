#pragma once
// Server-sent events out of bytes that come in pieces of any size.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace onelaunch::llm {

struct SseEvent {
  std::string name;  // empty when the server gave none
  std::string data;  // lines joined with \n
};

class SseParser {
 public:
  using Sink = std::function<void(SseEvent)>;
  explicit SseParser(std::size_t event_bytes_max) : bytes_max_(event_bytes_max) {}

  // Hands over every event that these bytes complete. False, then and from then on, once one is larger than the limit.
  bool feed(std::string_view bytes, const Sink& sink);
  // The end of the stream: hands over what a server left without its blank line.
  void finish(const Sink& sink);

 private:
  void end_line(const Sink& sink);
  void field(std::string_view name, std::string_view value);
  void dispatch(const Sink& sink);

  std::size_t bytes_max_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false, after_return_ = false, first_line_ = true, overflowed_ = false;
};

}  // namespace onelaunch::llm
