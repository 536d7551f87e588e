#pragma once
// Static sites: a board with a page for each session, or one session. They need no network and no server.

#include <filesystem>

#include "base/result.h"
#include "traces/leaderboard.h"

namespace onelaunch::traces {

// Writes index.html, a page for each run on the board, assets/ and sources/ into `folder`, which is made when it is
// missing. Files of an earlier site there are replaced. A run whose page cannot be made is on the board without one.
Result<void> write_board_site(const Board& board, const std::filesystem::path& folder);

// Writes index.html for one run directory or events.jsonl, with assets/ and sources/.
Result<void> write_session_site(const std::filesystem::path& run, const std::filesystem::path& folder);

}  // namespace onelaunch::traces
