#include "traces/leaderboard.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "traces/reader.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
constexpr int kDepthMax = 8;

// Run directories below a folder, in a fixed order. What may not be entered is passed over; links are not followed.
Result<std::vector<fs::path>> traces_under(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return invalid(path.string() + ": no such file or folder");
  if (!fs::is_directory(path, error)) return std::vector<fs::path>{path};
  if (fs::exists(path / "events.jsonl", error)) return std::vector<fs::path>{path / "events.jsonl"};
  std::vector<fs::path> found;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  if (error) return invalid("cannot list " + path.string() + ": " + error.message());
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (error) return invalid("cannot list " + path.string() + ": " + error.message());
    if (at.depth() >= kDepthMax || at->path().filename() == "blobs") at.disable_recursion_pending();
    if (at->path().filename() == "events.jsonl") found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string run_name(const fs::path& file) {
  if (file.filename() != "events.jsonl") return file.string();
  const fs::path run = file.parent_path().lexically_normal();
  return run.empty() ? "." : run.string();
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
  if (!row.us) row.us = state.best_us;
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
  add_times(row, state);
  add_ratios(row, state);
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

auto group_of(const BoardRow& row) { return std::tie(row.task, row.variant, row.device_class, row.kind, row.rules); }

bool before(const BoardRow& a, const BoardRow& b) {
  if (group_of(a) != group_of(b)) return group_of(a) < group_of(b);
  if (a.us.has_value() != b.us.has_value()) return a.us.has_value();
  if (a.us != b.us) return *a.us < *b.us;
  const double share_a = a.floor_share.value_or(0), share_b = b.floor_share.value_or(0);
  if (share_a != share_b) return share_a > share_b;
  return std::tie(a.agent, a.run) < std::tie(b.agent, b.run);
}

bool may_rank(const BoardRow& row) {
  return row.us && row.finished && row.verified && row.containment != "weak";
}

// Equal times share a rank.
void rank(std::vector<BoardRow>& rows) {
  std::sort(rows.begin(), rows.end(), before);
  int place = 0;
  const BoardRow* last = nullptr;  // the last ranked row of this group
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && group_of(rows[i - 1]) != group_of(rows[i])) place = 0, last = nullptr;
    if (!may_rank(rows[i])) continue;
    ++place;
    rows[i].rank = last && last->us == rows[i].us ? last->rank : place;
    last = &rows[i];
  }
}

}  // namespace

Result<Board> make_board(const std::vector<fs::path>& paths) {
  Board board;
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    board.searched.push_back(path.string());
    const Result<std::vector<fs::path>> files = traces_under(path);
    if (!files) return because(files.error());
    for (const fs::path& file : *files) {
      std::error_code error;
      const fs::path same = fs::weakly_canonical(file, error);
      if (!seen.insert(error ? file : same).second) continue;
      Result<BoardRow> row = read_row(file);
      if (row) board.rows.push_back(std::move(*row));
      else board.skipped.push_back(row.error().message);
    }
  }
  rank(board.rows);
  return board;
}

}  // namespace onelaunch::traces
