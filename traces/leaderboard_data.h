#pragma once
// The board for programs: every field of every row.

#include <string>

#include "traces/leaderboard.h"

namespace onelaunch::traces {

std::string print_csv(const Board& board);   // RFC 4180; external entries are left out
std::string print_json(const Board& board);  // onelaunch.board/1

}  // namespace onelaunch::traces
