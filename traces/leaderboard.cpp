#include "traces/leaderboard.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "traces/foreign/transcript.h"
#include "traces/leaderboard_rank.h"
#include "traces/reader.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
constexpr int kDepthMax = 8;

bool is_external(const fs::path& file) { return file.filename().string().ends_with(".external.json"); }

// Run directories and files of external entries below a folder, in a fixed order. What may not be entered is passed over; links are not followed.
Result<std::vector<fs::path>> traces_under(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return invalid(path.string() + ": no such file or folder");
  if (!fs::is_directory(path, error)) return std::vector<fs::path>{path};
  if (looks_foreign(path)) return std::vector<fs::path>{path};
  if (fs::exists(path / "events.jsonl", error)) return std::vector<fs::path>{path / "events.jsonl"};
  std::vector<fs::path> found;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  if (error) return invalid("cannot list " + path.string() + ": " + error.message());
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (error) return invalid("cannot list " + path.string() + ": " + error.message());
    if (at.depth() >= kDepthMax || at->path().filename() == "blobs") at.disable_recursion_pending();
    if (at->path().filename() == "events.jsonl" || is_external(at->path())) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string run_name(const fs::path& file) {
  if (file.filename() != "events.jsonl") return file.string();
  const fs::path run = file.parent_path().lexically_normal();
  return run.empty() ? "." : run.string();
}

// Geometric means of the ends of the contexts' intervals; nothing when one has none.
void add_interval(BoardRow& row, const std::vector<ContextTime>& times) {
  std::vector<ContextTime> low, high;
  for (const ContextTime& time : times) {
    if (!(time.us_low > 0) || !(time.us_high >= time.us_low)) return;
    low.push_back({.context = time.context, .us_median = time.us_low});
    high.push_back({.context = time.context, .us_median = time.us_high});
  }
  row.us_low = score_of(low);
  row.us_high = score_of(high);
}

void add_times(BoardRow& row, const SessionState& state) {
  std::vector<ContextTime> times;
  if (state.verified() && !state.regrade->times.empty()) {
    times = state.regrade->times;
  } else {
    for (const auto& [context, time] : state.times_of(state.best)) times.push_back(time);
  }
  for (const ContextTime& time : times) row.us_by_context[time.context] = time.us_median;
  row.us = score_of(times);
  if (state.verified() && !row.us && state.regrade->us > 0) row.us = state.regrade->us;
  if (row.us) add_interval(row, times);
  if (!row.us) row.us = state.best_us;
}

// The newest counts of the best kernel.
void add_counts(BoardRow& row, const SessionState& state) {
  const Attempt* best = state.find(state.best);
  if (!best) return;
  for (const Measurement& m : best->measurements) {
    if (m.launches) row.launches = m.launches;
    if (m.barriers) row.barriers = m.barriers;
  }
}

void add_spending(BoardRow& row, const SessionState& state) {
  row.model = state.model;
  if (state.model_turns == 0) return;
  row.input_tokens = state.input_tokens;
  row.output_tokens = state.output_tokens;
  if (state.cost_told) row.cost_usd = state.cost_usd;
}

// Geometric mean over the contexts that have both; nothing while a context lacks its floor.
std::optional<double> share_of_floor(const BoardRow& row, const SessionState& state) {
  if (!state.ceilings || state.ceilings->modelled != (row.kind == "modelled")) return std::nullopt;
  double log_sum = 0;
  std::size_t n = 0;
  for (const auto& floor : state.ceilings->floors) {
    const auto time = row.us_by_context.find(floor.context);
    if (time == row.us_by_context.end() || !(floor.us > 0) || !(time->second > 0)) continue;
    log_sum += std::log(floor.us / time->second);
    ++n;
  }
  if (n == 0 || n != row.us_by_context.size()) return std::nullopt;
  return std::exp(log_sum / static_cast<double>(n));
}

void add_ratios(BoardRow& row, const SessionState& state) {
  if (!row.us || !(*row.us > 0)) return;
  row.floor_share = share_of_floor(row, state);
  if (state.seed_us) row.over_seed = *state.seed_us / *row.us;
  for (const auto& [name, baseline] : state.baselines)
    if (const auto us = score_of(baseline.times); us && baseline.kind == row.kind) row.over[name] = *us / *row.us;
  const Baseline* headline = state.baseline();
  if (!headline) return;
  row.baseline = headline->name;
  if (const auto over = row.over.find(headline->name); over != row.over.end()) row.over_baseline = over->second;
  if (headline->kind != row.kind) return;
  for (const ContextTime& time : headline->times)
    if (const auto us = row.us_by_context.find(time.context); us != row.us_by_context.end() && us->second > 0)
      row.over_by_context[time.context] = time.us_median / us->second;
}

BoardRow row_of(const SessionState& state, const fs::path& file) {
  BoardRow row;
  row.run = run_name(file);
  row.agent = state.start->agent;
  row.harness_version = state.start->harness_version;
  row.task = state.start->task;
  row.variant = state.start->variant;
  row.rules = state.start->rules;
  row.containment = state.start->containment;
  row.device_class = state.device && !state.device->name.empty() ? state.device->name : state.start->device;
  row.kind = state.verified() ? state.regrade->kind : state.kind();
  row.decisions = state.decisions;
  row.kept = state.kept;
  row.time_to_best_s = state.best_t;
  row.active_s = state.active_s;
  row.finished = state.end.has_value();
  row.verified = state.verified();
  row.prompt_sha256 = state.start->prompt_sha256;
  if (state.regrade) row.quarantine = state.regrade->quarantine;
  add_times(row, state);
  add_ratios(row, state);
  add_counts(row, state);
  add_spending(row, state);
  return row;
}

Result<BoardRow> read_row(const fs::path& file) {
  SessionState state;
  const Result<ReadSummary> summary = read_trace(file, [&](const Record& record) {
    state.apply(record);
    return true;
  });
  if (!summary) return because(summary.error());
  if (!state.start) return invalid(file.string() + ": no session_start");
  return row_of(state, file);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// What another program's session says of itself, beside the entries that others published.
Result<ExternalEntry> entry_of_transcript(const fs::path& path) {
  const Result<Transcript> transcript = read_transcript(path);
  if (!transcript) return because(transcript.error());
  ExternalEntry entry;
  entry.agent = transcript->agent + (transcript->model.empty() ? "" : ", " + transcript->model);
  entry.task = entry.device = entry.baseline = "not told";
  entry.citation = transcript->format + ", unchecked: " + path.string();
  if (!transcript->lacks.empty()) entry.note = "not in this transcript: " + joined(transcript->lacks);
  if (!transcript->figures.empty()) entry.note += (entry.note.empty() ? "" : "; ") + ("it states: " + joined(transcript->figures));
  entry.active_s = transcript->duration_s;
  entry.cost_usd = transcript->cost_usd;
  entry.output_tokens = transcript->use.output;
  entry.file = path.string();
  return entry;
}

Result<void> take_file(const fs::path& file, std::vector<BoardRow>& runs, std::vector<ExternalEntry>& added) {
  if (looks_foreign(file)) {
    Result<ExternalEntry> entry = entry_of_transcript(file);
    if (!entry) return because(entry.error());
    added.push_back(std::move(*entry));
    return {};
  }
  if (file.extension() == ".json") {
    const Result<std::vector<ExternalEntry>> entries = read_external(file);
    if (!entries) return because(entries.error());
    added.insert(added.end(), entries->begin(), entries->end());
    return {};
  }
  Result<BoardRow> row = read_row(file);
  if (!row) return because(row.error());
  runs.push_back(std::move(*row));
  return {};
}

}  // namespace

Result<Board> make_board(const std::vector<fs::path>& paths) {
  Board board;
  std::set<fs::path> seen;
  std::vector<BoardRow> runs;
  std::vector<ExternalEntry> added;
  for (const fs::path& path : paths) {
    board.searched.push_back(path.string());
    const Result<std::vector<fs::path>> files = traces_under(path);
    if (!files) return because(files.error());
    for (const fs::path& file : *files) {
      std::error_code error;
      const fs::path same = fs::weakly_canonical(file, error);
      if (!seen.insert(error ? file : same).second) continue;
      if (const Result<void> taken = take_file(file, runs, added); !taken) board.skipped.push_back(taken.error().message);
    }
  }
  board.rows = ranked_entries(std::move(runs));
  for (ExternalEntry& entry : shipped_external())
    if (std::any_of(board.rows.begin(), board.rows.end(), [&](const BoardRow& row) { return row.task == entry.task; }))
      board.external.push_back(std::move(entry));
  for (ExternalEntry& entry : added) board.external.push_back(std::move(entry));
  return board;
}

}  // namespace onelaunch::traces
