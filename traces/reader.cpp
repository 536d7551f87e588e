#include "traces/reader.h"

#include "base/sha256.h"
#include "traces/event_json.h"
#include "traces/line_source.h"

namespace onelaunch::traces {
namespace {
constexpr std::size_t kUnknownNamed = 16;

std::string at_line(std::uint64_t number) { return "line " + std::to_string(number); }

void note_unknown(ReadSummary& summary, std::uint64_t number, const std::string& type) {
  if (++summary.unknown_events <= kUnknownNamed)
    summary.unknown.push_back(at_line(number) + ": unknown event type `" + type + "`");
}

Result<ReadSummary> read_lines(LineSource& source, const std::function<bool(const Record&)>& visit) {
  ReadSummary summary;
  std::string last(64, '0');
  bool any = false;
  LineParser parser;
  for (;;) {
    const Result<LineSource::Got> got = source.next();
    if (!got) return because(got.error());
    if (*got != LineSource::Got::line) {
      summary.torn_last_line = *got == LineSource::Got::torn;
      break;
    }
    const Result<ParsedLine> parsed = parser.parse(source.text());
    if (!parsed) return because(parsed.error(), at_line(source.number()));
    last.assign(source.text());
    any = true;
    ++summary.events;
    summary.last_t = parsed->record.t;
    summary.last_seq = parsed->record.seq;
    summary.whole_bytes = source.whole_bytes();
    if (!parsed->known) note_unknown(summary, source.number(), parsed->type);
    if (parsed->known && !visit(parsed->record)) break;
  }
  summary.last_hash = any ? sha256_hex(last) : last;
  return summary;
}

}  // namespace

std::filesystem::path trace_file(const std::filesystem::path& path) {
  std::error_code ignored;  // what cannot be looked at is reported when it is opened
  return std::filesystem::is_directory(path, ignored) ? path / "events.jsonl" : path;
}

Result<ReadSummary> read_trace(const std::filesystem::path& path, const std::function<bool(const Record&)>& visit) {
  const std::filesystem::path file = trace_file(path);
  Result<LineSource> source = LineSource::open(file);
  if (!source) return because(source.error());
  Result<ReadSummary> summary = read_lines(*source, visit);
  if (!summary) return because(summary.error(), file.string());
  return summary;
}

}  // namespace onelaunch::traces
