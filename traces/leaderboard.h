#pragma once
// Ranks recorded sessions. Reads events only; needs no GPU.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "traces/external.h"
#include "traces/fold.h"

namespace onelaunch::traces {

// An entry: what one (agent, model, harness version, prompt) reached on a board; the numbers are its best run's.
struct BoardRow {
  std::string agent, harness_version, task, variant, device_class, kind, rules, run;
  std::string model, prompt_sha256;         // empty without a model
  std::optional<double> us, us_low, us_high;  // us per token with its interval, when every context has one
  std::optional<double> over_baseline, over_seed, floor_share;
  std::string baseline;
  std::map<std::string, double> over;       // every baseline of the same kind: x over it
  std::map<std::int64_t, double> us_by_context;
  std::map<std::int64_t, double> over_by_context;  // x over `baseline`
  std::optional<int> launches, barriers;    // per token, counted
  int decisions = 0, kept = 0;
  double time_to_best_s = 0, active_s = 0;
  std::optional<std::uint64_t> input_tokens, output_tokens;  // nothing without a model
  std::optional<double> cost_usd;           // nothing when it was not told
  bool finished = false, verified = false;  // verified: the closing re-grade passed
  std::string quarantine;                   // why its times cannot be true
  std::string containment;                  // "weak" is never ranked
  std::string check;                        // what a re-grade here said of it; empty: none was made
  int rank = 0;                             // within its board, from 1; 0: no time, unverified or weakly contained
  int runs = 1, runs_verified = 0;          // of this entry on this board
  std::vector<std::string> other_runs;      // best first
};

struct Board {
  std::vector<BoardRow> rows;               // sorted by (task, variant, device class, kind, rules), then us
  std::vector<ExternalEntry> external;      // published elsewhere: shown, never ranked
  std::vector<std::string> skipped;         // "path: why"
  std::vector<std::string> searched;        // the paths asked for
};

// Each path is a run directory, an events.jsonl, a file of external entries (external.h), another program's transcript
// (shown, never ranked), or a folder searched for run
// directories and *.external.json. A run met twice counts once. Fails (invalid_input) when a path does not exist; a
// folder without runs gives an empty board. Entries whose intervals overlap share a rank.
Result<Board> make_board(const std::vector<std::filesystem::path>& paths);

enum class BoardFormat { table, md, csv, json };
std::string print_board(const Board& board, BoardFormat format);

}  // namespace onelaunch::traces
