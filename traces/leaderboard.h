#pragma once
// Ranks recorded sessions. Reads events only; needs no GPU.

#include <cstdint>
#include <filesystem>
#include <map>
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
  std::map<std::string, double> over;       // every baseline of the same kind: x over it
  std::map<std::int64_t, double> us_by_context;
  int decisions = 0, kept = 0;
  double time_to_best_s = 0, active_s = 0;
  bool finished = false, verified = false;  // verified: the closing re-grade passed
  std::string containment;                  // "weak" is never ranked
  int rank = 0;                             // within its group, from 1; 0: no time, unverified or weakly contained
};

struct Board {
  std::vector<BoardRow> rows;               // sorted by (task, variant, device class, kind, rules), then us
  std::vector<std::string> skipped;         // "path: why"
  std::vector<std::string> searched;        // the paths asked for
};

// Each path is a run directory, an events.jsonl, or a folder searched for run directories. A run met twice counts
// once. Fails (invalid_input) when a path does not exist; a folder without runs gives an empty board.
Result<Board> make_board(const std::vector<std::filesystem::path>& paths);

enum class BoardFormat { table, md, csv, json };
std::string print_board(const Board& board, BoardFormat format);

}  // namespace onelaunch::traces
