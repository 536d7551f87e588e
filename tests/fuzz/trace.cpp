// A trace that somebody else wrote: read, shown line by line, printed anew.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"
#include "traces/event_json.h"
#include "traces/event_line.h"
#include "traces/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onelaunch;
  const UniqueFd file(::memfd_create("trace", MFD_CLOEXEC));
  if (file.get() < 0 || ::pwrite(file.get(), data, size, 0) != static_cast<ssize_t>(size)) return 0;
  (void)traces::read_trace("/proc/self/fd/" + std::to_string(file.get()), [](const traces::Record& record) {
    (void)traces::event_line(record.event);
    (void)traces::candidate_of(record.event);
    (void)traces::print_record(record);
    return true;
  });
  // Lines by themselves: the reader stops at the first whose hash does not fit.
  const std::string text = std::string(reinterpret_cast<const char*>(data), size) + std::string(traces::LineParser::padding(), '\0');
  for (const auto strictness : {traces::Strictness::lenient, traces::Strictness::strict}) {
    traces::LineParser parser(strictness);
    const auto line = parser.parse(std::string_view(text).substr(0, size));
    if (line && line->known) (void)traces::event_line(line->record.event);
  }
  return 0;
}
