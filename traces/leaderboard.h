#pragma once
// Ranks recorded sessions. Reads events only; needs no GPU.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "traces/fold.h"

namespace onelaunch::traces {

struct BoardRow {
  std::string agent, harness_version, task, variant, device_class, kind, rules, run;
  std::optional<double> us, over_baseline, over_seed, floor_share;
  std::string baseline;
  std::map<std::int64_t, double> us_by_context;
  int decisions = 0, kept = 0;
  double time_to_best_s = 0, active_s = 0;
  bool finished = false, verified = false;  // verified: the closing re-grade passed
};

struct Board {
  std::vector<BoardRow> rows;               // sorted by (task, variant, device class, kind), then us
  std::vector<std::string> skipped;         // "path: why"
};

// Each path is a run directory, an events.jsonl, or a folder searched for run directories.
Result<Board> make_board(const std::vector<std::filesystem::path>& paths);

enum class BoardFormat { table, md, csv, json };
std::string print_board(const Board& board, BoardFormat format);

}  // namespace onelaunch::traces
