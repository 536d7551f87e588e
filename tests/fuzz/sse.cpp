// Server-sent events: the same whether the bytes come at once or one by one, and never more than allowed.
#include <vector>

#include "agent/llm/sse.h"

namespace {

constexpr std::size_t kEventBytes = 64;
using Events = std::vector<onelaunch::llm::SseEvent>;

Events read(std::string_view bytes, std::size_t piece) {
  Events events;
  onelaunch::llm::SseParser parser(kEventBytes);
  const auto sink = [&](onelaunch::llm::SseEvent event) {
    if (event.data.size() > kEventBytes) __builtin_trap();
    events.push_back(std::move(event));
  };
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    if (!parser.feed(bytes.substr(at, piece), sink)) return events;
  parser.finish(sink);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Events whole = read(bytes, size + 1), pieces = read(bytes, 1);
  if (whole.size() != pieces.size()) __builtin_trap();
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (whole[i].name != pieces[i].name || whole[i].data != pieces[i].data) __builtin_trap();
  return 0;
}
