#include <nlohmann/json.hpp>

#include <set>

#include "traces/leaderboard.h"
#include "traces/text.h"

namespace onelaunch::traces {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

std::string status_of(const BoardRow& row) {
  std::string text = !row.finished ? "unfinished" : row.verified ? "verified" : "unverified";
  if (row.containment == "weak") text += ", weak containment";
  return text;
}

bool same_group(const BoardRow& a, const BoardRow& b) {
  return a.task == b.task && a.variant == b.variant && a.device_class == b.device_class && a.kind == b.kind &&
         a.rules == b.rules;
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
    if (groups.empty() || !same_group(*groups.back().front(), row)) groups.emplace_back();
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

Cells cells_of(const BoardRow& row, const std::set<std::string>& baselines) {
  Cells cells{row.rank > 0 ? std::to_string(row.rank) : "-", one_line(row.agent), row.us ? micros(*row.us) : "-",
              row.floor_share ? percent(*row.floor_share) : "-"};
  for (const std::string& name : baselines) {
    const auto over = row.over.find(name);
    cells.push_back(over == row.over.end() ? "-" : factor(over->second));
  }
  cells.insert(cells.end(), {factor_or_dash(row.over_seed), std::to_string(row.kept) + "/" + std::to_string(row.decisions),
                             fixed(row.time_to_best_s, 1) + " s", fixed(row.active_s, 1) + " s", status_of(row),
                             one_line(row.run)});
  return cells;
}

Grid grid_of(const std::vector<const BoardRow*>& group) {
  const std::set<std::string> baselines = baselines_of(group);
  Grid grid;
  Cells heading{"#", "agent", "us/token", "of floor"};
  grid.align = {Align::right, Align::left, Align::right, Align::right};
  for (const std::string& name : baselines) {
    heading.push_back("x " + one_line(name));
    grid.align.push_back(Align::right);
  }
  for (const char* name : {"x seed", "kept", "to best", "active"}) {
    heading.emplace_back(name);
    grid.align.push_back(Align::right);
  }
  heading.insert(heading.end(), {"status", "run"});
  grid.align.insert(grid.align.end(), {Align::left, Align::left});
  grid.rows.push_back(std::move(heading));
  for (const BoardRow* row : group) grid.rows.push_back(cells_of(*row, baselines));
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

std::string print_md(const Board& board) {
  std::string text;
  for (const auto& group : groups_of(board)) {
    const Grid grid = grid_of(group);
    text += (text.empty() ? "### " : "\n### ") + md_cell(group_title(*group.front())) + "\n\n";
    for (std::size_t r = 0; r < grid.rows.size(); ++r) {
      text += "|";
      for (const std::string& cell : grid.rows[r]) text += " " + md_cell(cell) + " |";
      text += "\n";
      if (r > 0) continue;
      text += "|";
      for (const Align align : grid.align) text += align == Align::left ? " --- |" : " ---: |";
      text += "\n";
    }
  }
  if (board.rows.empty()) text = md_cell(nothing_found(board));
  if (!board.skipped.empty()) text += "\n" + md_cell(skipped_lines(board));
  return text;
}

// RFC 4180; a leading character that a spreadsheet would run as a formula gets an apostrophe.
std::string csv_cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + "\"";
}

std::string number(const std::optional<double>& value) { return value ? Json(*value).dump() : ""; }

template <class T>
std::string pairs(const std::map<T, double>& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    if (!text.empty()) text += ";";
    if constexpr (std::is_arithmetic_v<T>) text += std::to_string(key);
    else text += key;
    text += "=" + number(value);
  }
  return text;
}

std::string print_csv(const Board& board) {
  std::string text =
      "task,variant,device_class,kind,rules,rank,agent,us,floor_share,baseline,over_baseline,over,over_seed,"
      "us_by_context,kept,decisions,time_to_best_s,active_s,finished,verified,containment,harness_version,run\r\n";
  for (const BoardRow& row : board.rows) {
    const Cells names{row.task, row.variant, row.device_class, row.kind, row.rules};
    for (const std::string& cell : names) text += csv_cell(cell) + ",";
    text += (row.rank > 0 ? std::to_string(row.rank) : "") + "," + csv_cell(row.agent) + "," + number(row.us) + "," +
            number(row.floor_share) + "," + csv_cell(row.baseline) + "," + number(row.over_baseline) + "," +
            csv_cell(pairs(row.over)) + "," + number(row.over_seed) + "," + pairs(row.us_by_context) + "," +
            std::to_string(row.kept) + "," + std::to_string(row.decisions) + "," + number(row.time_to_best_s) + "," +
            number(row.active_s) + "," + (row.finished ? "true" : "false") + "," + (row.verified ? "true" : "false") +
            "," + csv_cell(row.containment) + "," + csv_cell(row.harness_version) + "," + csv_cell(row.run) + "\r\n";
  }
  return text;
}

Json json_of(const BoardRow& row) {
  Json json = {{"task", row.task}, {"variant", row.variant}, {"device_class", row.device_class},
               {"kind", row.kind}, {"rules", row.rules},     {"agent", row.agent}};
  json["rank"] = row.rank > 0 ? Json(row.rank) : Json();
  const auto put = [&](const char* name, const std::optional<double>& value) { json[name] = value ? Json(*value) : Json(); };
  put("us", row.us);
  put("floor_share", row.floor_share);
  json["baseline"] = row.baseline;
  put("over_baseline", row.over_baseline);
  json["over"] = row.over;
  put("over_seed", row.over_seed);
  json["us_by_context"] = Json::object();
  for (const auto& [context, us] : row.us_by_context) json["us_by_context"][std::to_string(context)] = us;
  json["kept"] = row.kept;
  json["decisions"] = row.decisions;
  json["time_to_best_s"] = row.time_to_best_s;
  json["active_s"] = row.active_s;
  json["finished"] = row.finished;
  json["verified"] = row.verified;
  json["containment"] = row.containment;
  json["harness_version"] = row.harness_version;
  json["run"] = row.run;
  return json;
}

std::string print_json(const Board& board) {
  Json json = {{"format", "onelaunch.board/1"}, {"rows", Json::array()}};
  for (const BoardRow& row : board.rows) json["rows"].push_back(json_of(row));
  json["skipped"] = board.skipped;
  json["searched"] = board.searched;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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
