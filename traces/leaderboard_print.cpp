#include <algorithm>
#include <set>

#include "traces/leaderboard.h"
#include "traces/leaderboard_data.h"
#include "traces/leaderboard_rank.h"
#include "traces/text.h"

namespace onelaunch::traces {
namespace {

using Cells = std::vector<std::string>;

std::string status_of(const BoardRow& row) {
  std::string text = !row.finished ? "unfinished" : row.verified ? "verified" : "unverified";
  if (!row.quarantine.empty()) text += ", quarantined";
  if (row.containment == "weak") text += ", weak containment";
  return text;
}

std::string group_title(const BoardRow& row) {
  std::string text = one_line(row.task);
  if (!row.variant.empty()) text += " (" + one_line(row.variant) + ")";
  text += " on " + one_line(row.device_class) + ", ";
  if (row.kind == "modelled") text += "MODELLED times (emulator), not measured";
  else text += row.kind.empty() ? "no times" : one_line(row.kind) + " times";
  if (!row.rules.empty()) text += ", rules " + one_line(row.rules);
  return text;
}

// Runs of rows that share a board.
std::vector<std::vector<const BoardRow*>> groups_of(const Board& board) {
  std::vector<std::vector<const BoardRow*>> groups;
  for (const BoardRow& row : board.rows) {
    if (groups.empty() || !same_board(*groups.back().front(), row)) groups.emplace_back();
    groups.back().push_back(&row);
  }
  return groups;
}

std::set<std::string> baselines_of(const std::vector<const BoardRow*>& group) {
  std::set<std::string> names;
  for (const BoardRow* row : group)
    for (const auto& [name, over] : row->over) names.insert(name);
  return names;
}

std::string factor_or_dash(const std::optional<double>& ratio) { return ratio ? factor(*ratio) : "-"; }

struct Grid {
  std::vector<Cells> rows;  // heading first
  std::vector<Align> align;
};

std::string count(const std::optional<std::uint64_t>& n) {
  if (!n) return "-";
  if (*n < 10000) return std::to_string(*n);
  return *n < 10000000 ? fixed(static_cast<double>(*n) / 1e3, 0) + "k" : fixed(static_cast<double>(*n) / 1e6, 1) + "M";
}
std::string count(const std::optional<int>& n) { return n ? std::to_string(*n) : "-"; }

// "79.9-80.1" when it is an interval.
std::string interval(const BoardRow& row) {
  if (!row.us_low || !row.us_high || *row.us_high <= *row.us_low) return "-";
  return micros(*row.us_low) + "-" + micros(*row.us_high);
}

// A column is shown when a row of its board has something to say in it.
class GridBuilder {
 public:
  explicit GridBuilder(const std::vector<const BoardRow*>& group) : group_(group) {
    grid_.rows.resize(group.size() + 1);
  }
  template <class Say>
  void column(const std::string& name, Align align, const Say& say, bool always = true) {
    Cells cells;
    bool any = always;
    for (const BoardRow* row : group_) {
      cells.push_back(say(*row));
      any = any || (cells.back() != "-" && !cells.back().empty());
    }
    if (!any) return;
    grid_.rows[0].push_back(name);
    grid_.align.push_back(align);
    for (std::size_t i = 0; i < cells.size(); ++i) grid_.rows[i + 1].push_back(std::move(cells[i]));
  }
  Grid take() { return std::move(grid_); }

 private:
  const std::vector<const BoardRow*>& group_;
  Grid grid_;
};

void add_speed_columns(GridBuilder& grid, const std::vector<const BoardRow*>& group) {
  grid.column("us/token", Align::right, [](const BoardRow& row) { return row.us ? micros(*row.us) : "-"; });
  grid.column("interval", Align::right, interval, false);
  grid.column("tok/s", Align::right, [](const BoardRow& row) { return row.us && *row.us > 0 ? fixed(1e6 / *row.us, 0) : "-"; });
  grid.column("of floor", Align::right, [](const BoardRow& row) { return row.floor_share ? percent(*row.floor_share) : "-"; });
  for (const std::string& name : baselines_of(group))
    grid.column("x " + one_line(name), Align::right, [&](const BoardRow& row) {
      const auto over = row.over.find(name);
      return over == row.over.end() ? "-" : factor(over->second);
    });
  grid.column("x seed", Align::right, [](const BoardRow& row) { return factor_or_dash(row.over_seed); });
  grid.column("launches", Align::right, [](const BoardRow& row) { return count(row.launches); }, false);
  grid.column("barriers", Align::right, [](const BoardRow& row) { return count(row.barriers); }, false);
}

Grid grid_of(const std::vector<const BoardRow*>& group) {
  GridBuilder grid(group);
  const auto several = std::any_of(group.begin(), group.end(), [](const BoardRow* row) { return row->runs > 1; });
  grid.column("#", Align::right, [](const BoardRow& row) { return row.rank > 0 ? std::to_string(row.rank) : "-"; });
  grid.column("agent", Align::left, [](const BoardRow& row) { return one_line(row.agent); });
  grid.column("model", Align::left, [](const BoardRow& row) { return one_line(row.model); }, false);
  add_speed_columns(grid, group);
  grid.column("kept", Align::right, [](const BoardRow& row) { return std::to_string(row.kept) + "/" + std::to_string(row.decisions); });
  grid.column("to best", Align::right, [](const BoardRow& row) { return fixed(row.time_to_best_s, 1) + " s"; });
  grid.column("active", Align::right, [](const BoardRow& row) { return fixed(row.active_s, 1) + " s"; });
  grid.column("tokens in", Align::right, [](const BoardRow& row) { return count(row.input_tokens); }, false);
  grid.column("out", Align::right, [](const BoardRow& row) { return count(row.output_tokens); }, false);
  grid.column("cost", Align::right, [](const BoardRow& row) { return row.cost_usd ? "$" + fixed(*row.cost_usd, 2) : "-"; }, false);
  if (several)
    grid.column("runs", Align::right, [](const BoardRow& row) { return std::to_string(row.runs_verified) + " of " + std::to_string(row.runs); });
  grid.column("status", Align::left, status_of);
  grid.column("checked here", Align::left, [](const BoardRow& row) { return one_line(row.check); }, false);
  grid.column("run", Align::left, [](const BoardRow& row) { return one_line(row.run); });
  return grid.take();
}

constexpr const char* kExternalTitle = "Published elsewhere: cited, not ranked";

Grid external_grid(const std::vector<ExternalEntry>& entries) {
  Grid grid;
  grid.rows.push_back({"agent", "task", "device", "x", "over", "by context", "launches", "barriers", "time", "tokens out", "source"});
  grid.align = {Align::left, Align::left, Align::left, Align::right, Align::left, Align::left,
                Align::right, Align::right, Align::right, Align::right, Align::left};
  for (const ExternalEntry& entry : entries) {
    std::string contexts;
    for (const auto& [context, over] : entry.over_by_context)
      contexts += (contexts.empty() ? "" : ", ") + std::to_string(context) + ": " + factor(over);
    grid.rows.push_back({one_line(entry.agent), one_line(entry.task), one_line(entry.device), factor_or_dash(entry.over),
                         one_line(entry.baseline), contexts.empty() ? "-" : contexts, count(entry.launches),
                         count(entry.barriers), entry.active_s ? fixed(*entry.active_s / 3600, 1) + " h" : "-",
                         count(entry.output_tokens), one_line(entry.citation + (entry.url.empty() ? "" : " " + entry.url))});
  }
  return grid;
}

std::string nothing_found(const Board& board) {
  std::string text = "No sessions found under";
  for (const std::string& path : board.searched) text += " " + one_line(path);
  return text + ".\nA session leaves a folder with events.jsonl in it; `onelaunch run TASK --out DIR` makes one.\n";
}

std::string skipped_lines(const Board& board) {
  std::string text;
  for (const std::string& skipped : board.skipped) text += "skipped " + one_line(skipped) + "\n";
  return text;
}

std::string print_table(const Board& board) {
  std::string text;
  for (const auto& group : groups_of(board)) {
    const Grid grid = grid_of(group);
    text += (text.empty() ? "" : "\n") + group_title(*group.front()) + "\n" + columns(grid.rows, grid.align);
  }
  if (board.rows.empty()) text = nothing_found(board);
  if (!board.external.empty()) {
    const Grid grid = external_grid(board.external);
    text += std::string("\n") + kExternalTitle + "\n" + columns(grid.rows, grid.align);
  }
  return text + skipped_lines(board);
}

std::string md_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

std::string md_table(const Grid& grid) {
  std::string text;
  for (std::size_t r = 0; r < grid.rows.size(); ++r) {
    text += "|";
    for (const std::string& cell : grid.rows[r]) text += " " + md_cell(cell) + " |";
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (const Align align : grid.align) text += align == Align::left ? " --- |" : " ---: |";
    text += "\n";
  }
  return text;
}

std::string print_md(const Board& board) {
  std::string text;
  for (const auto& group : groups_of(board))
    text += (text.empty() ? "### " : "\n### ") + md_cell(group_title(*group.front())) + "\n\n" + md_table(grid_of(group));
  if (board.rows.empty()) text = md_cell(nothing_found(board));
  if (!board.external.empty())
    text += std::string("\n### ") + kExternalTitle + "\n\n" + md_table(external_grid(board.external));
  if (!board.skipped.empty()) text += "\n" + md_cell(skipped_lines(board));
  return text;
}

}  // namespace

std::string print_board(const Board& board, BoardFormat format) {
  switch (format) {
    case BoardFormat::table: return print_table(board);
    case BoardFormat::md: return print_md(board);
    case BoardFormat::csv: return print_csv(board);
    case BoardFormat::json: return print_json(board);
  }
  return "";
}

}  // namespace onelaunch::traces
