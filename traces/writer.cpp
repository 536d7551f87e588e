#include "traces/writer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/sha256.h"
#include "traces/blobs.h"
#include "traces/chain.h"
#include "traces/event_json.h"
#include "traces/line_source.h"
#include "traces/reader.h"
#include "traces/run_lock.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

Result<void> write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return unavailable(reason());
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(fd) != 0) return unavailable("sync: " + reason());
  return {};
}

Result<void> sync_folder(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return unavailable("cannot sync " + folder.string() + ": " + reason());
  return {};
}

struct Found {
  std::uint64_t events = 0, whole_bytes = 0;
  double last_t = 0;
  std::string head, torn;
};

// Walks the whole trace: a broken chain must not be continued as if nothing had happened.
Result<Found> find_end(const fs::path& file) {
  Result<LineSource> source = LineSource::open(file);
  if (!source) return because(source.error());
  LineParser parser;
  Chain chain;
  Found found;
  for (;;) {
    const Result<LineSource::Got> got = source->next();
    if (!got) return because(got.error());
    if (*got == LineSource::Got::torn) found.torn = std::string(source->text());
    if (*got != LineSource::Got::line) break;
    const Result<ParsedLine> parsed = parser.parse(source->text());
    if (!parsed) return because(parsed.error(), "line " + std::to_string(source->number()));
    chain.add(source->text(), parsed->record.seq, parsed->record.prev);
    found.last_t = std::max(found.last_t, parsed->record.t);
    found.whole_bytes = source->whole_bytes();
  }
  chain.finish();
  if (!chain.defects().empty()) {
    const Defect& first = chain.defects().front();
    return invalid("line " + std::to_string(first.line) + " " + first.reason);
  }
  found.events = chain.lines();
  found.head = chain.head();
  return found;
}

Result<void> keep_aside(const fs::path& run, const std::string& torn) {
  const fs::path path = run / "events.torn";
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return unavailable("cannot open " + path.string() + ": " + reason());
  return write_all(fd.get(), torn + "\n").map_error(doing("writing " + path.string()));
}

}  // namespace

struct Writer::State {
  fs::path run, file;
  RunLock lock;
  UniqueFd fd;
  const Clock* clock;
  Seconds leg_start;             // on `clock`
  double before_leg_s = 0;       // active time of the legs before this one
  std::uint64_t seq = 0, whole_bytes = 0;
  double last_t = 0;
  std::string head = std::string(64, '0');
  bool dropped_torn = false;
  bool torn = false;             // a failed append left a part of a line that could not be cut off yet

  Result<void> cut_back() {
    torn = ::ftruncate(fd.get(), static_cast<off_t>(whole_bytes)) != 0;
    if (torn) return unavailable("cannot repair " + file.string() + ": " + reason());
    return {};
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::create(const fs::path& run, const Clock& clock) {
  std::error_code error;
  fs::create_directories(run, error);
  if (error) return unavailable("cannot create " + run.string() + ": " + error.message());
  Result<RunLock> lock = RunLock::take(run);
  if (!lock) return because(lock.error());
  const fs::path file = run / "events.jsonl";
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!fd && errno == EEXIST) return invalid(run.string() + " holds a trace already; resume it or choose another folder");
  if (!fd) return unavailable("cannot create " + file.string() + ": " + reason());
  if (const Result<void> synced = sync_folder(run); !synced) return because(synced.error());
  return Writer(std::make_unique<State>(State{.run = run,
                                              .file = file,
                                              .lock = std::move(*lock),
                                              .fd = std::move(fd),
                                              .clock = &clock,
                                              .leg_start = clock.now()}));
}

Result<Writer> Writer::reopen(const fs::path& run, const Clock& clock) {
  const fs::path file = run / "events.jsonl";
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) return invalid(run.string() + " holds no trace: " + file.string() + ": " + reason());
  Result<RunLock> lock = RunLock::take(run);
  if (!lock) return because(lock.error());
  Result<Found> found = find_end(file);
  if (!found) return because(found.error(), "resuming " + file.string());
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd) return unavailable("cannot append to " + file.string() + ": " + reason());
  auto state = std::make_unique<State>(State{.run = run,
                                             .file = file,
                                             .lock = std::move(*lock),
                                             .fd = std::move(fd),
                                             .clock = &clock,
                                             .leg_start = clock.now(),
                                             .before_leg_s = found->last_t,
                                             .seq = found->events,
                                             .whole_bytes = found->whole_bytes,
                                             .last_t = found->last_t,
                                             .head = found->head,
                                             .dropped_torn = !found->torn.empty()});
  if (state->dropped_torn) {
    if (const Result<void> kept = keep_aside(run, found->torn); !kept) return because(kept.error());
    if (const Result<void> cut = state->cut_back(); !cut) return because(cut.error());
  }
  return Writer(std::move(state));
}

Result<void> Writer::append(const Event& event) {
  State& s = *state_;
  if (s.torn)
    if (const Result<void> cut = s.cut_back(); !cut) return cut;
  // Microseconds; never back, whatever the clock does.
  const double t = std::max(s.last_t, std::round(active_s() * 1e6) / 1e6);
  Result<std::string> line =
      print_record({.seq = s.seq, .t = t, .ts = s.clock->utc_now(), .prev = s.head, .event = event});
  if (!line) return because(line.error());
  if (line->size() > kLineBytesMax)
    return fail(Error::Kind::internal, std::string("event ") + type_of(event) + " has " +
                                           std::to_string(line->size()) + " bytes; large content belongs in a blob");
  std::string head = sha256_hex(*line);
  line->push_back('\n');
  if (const Result<void> written = write_all(s.fd.get(), *line); !written) {
    // A part of the line may be on the disk. If it cannot be cut off now, the next append tries again.
    const Result<void> cut = s.cut_back();
    return unavailable("appending to " + s.file.string() + ": " + written.error().message +
                       (cut ? "" : "; " + cut.error().message));
  }
  s.head = std::move(head);
  s.whole_bytes += line->size();
  s.last_t = t;
  ++s.seq;
  return {};
}

Result<std::string> Writer::store_blob(std::string_view content) { return traces::store_blob(state_->run, content); }

double Writer::active_s() const { return state_->before_leg_s + (state_->clock->now() - state_->leg_start).count(); }

std::uint64_t Writer::events() const { return state_->seq; }

bool Writer::dropped_torn_line() const { return state_->dropped_torn; }

const fs::path& Writer::run() const { return state_->run; }

}  // namespace onelaunch::traces
