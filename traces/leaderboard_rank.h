#pragma once
// From the rows of runs to the places of entries.

#include "traces/leaderboard.h"

namespace onelaunch::traces {

// Same task, variant, device class, kind of times and rules: only such rows are compared.
bool same_board(const BoardRow& a, const BoardRow& b);

// One row for each run comes in; one for each entry comes out, sorted by board and time, ranked.
std::vector<BoardRow> ranked_entries(std::vector<BoardRow> runs);

}  // namespace onelaunch::traces
