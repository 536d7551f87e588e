#include "traces/leaderboard_rank.h"

#include <algorithm>
#include <tuple>

namespace onelaunch::traces {
namespace {

auto board_of(const BoardRow& row) { return std::tie(row.task, row.variant, row.device_class, row.kind, row.rules); }
auto entry_of(const BoardRow& row) { return std::tie(row.agent, row.model, row.harness_version, row.prompt_sha256); }

bool may_rank(const BoardRow& row) {
  return row.us && row.finished && row.verified && row.containment != "weak";
}

bool before(const BoardRow& a, const BoardRow& b) {
  if (board_of(a) != board_of(b)) return board_of(a) < board_of(b);
  if (a.us.has_value() != b.us.has_value()) return a.us.has_value();
  if (a.us != b.us) return *a.us < *b.us;
  const double share_a = a.floor_share.value_or(0), share_b = b.floor_share.value_or(0);
  if (share_a != share_b) return share_a > share_b;
  return std::tie(a.agent, a.run) < std::tie(b.agent, b.run);
}

// The best run that may be ranked speaks for an entry; without one, the best.
bool speaks_before(const BoardRow& a, const BoardRow& b) {
  if (may_rank(a) != may_rank(b)) return may_rank(a);
  return before(a, b);
}

bool overlap(const BoardRow& leader, const BoardRow& row) {
  if (leader.us == row.us) return true;
  return leader.us_high && row.us_low && *row.us_low <= *leader.us_high;
}

std::vector<BoardRow> merged(std::vector<BoardRow> runs) {
  std::sort(runs.begin(), runs.end(), [](const BoardRow& a, const BoardRow& b) {
    if (board_of(a) != board_of(b)) return board_of(a) < board_of(b);
    if (entry_of(a) != entry_of(b)) return entry_of(a) < entry_of(b);
    return speaks_before(a, b);
  });
  std::vector<BoardRow> entries;
  for (BoardRow& run : runs) {
    const bool verified = may_rank(run);
    if (entries.empty() || !same_board(entries.back(), run) || entry_of(entries.back()) != entry_of(run)) {
      entries.push_back(std::move(run));
      entries.back().runs = 0;
    } else {
      entries.back().other_runs.push_back(run.run);
    }
    ++entries.back().runs;
    entries.back().runs_verified += verified ? 1 : 0;
  }
  return entries;
}

}  // namespace

bool same_board(const BoardRow& a, const BoardRow& b) { return board_of(a) == board_of(b); }

std::vector<BoardRow> ranked_entries(std::vector<BoardRow> runs) {
  std::vector<BoardRow> rows = merged(std::move(runs));
  std::sort(rows.begin(), rows.end(), before);
  int place = 0;
  const BoardRow* leader = nullptr;  // first of those that share the rank at hand
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && !same_board(rows[i - 1], rows[i])) place = 0, leader = nullptr;
    if (!may_rank(rows[i])) continue;
    ++place;
    if (leader && overlap(*leader, rows[i])) {
      rows[i].rank = leader->rank;
    } else {
      rows[i].rank = place;
      leader = &rows[i];
    }
  }
  return rows;
}

}  // namespace onelaunch::traces
