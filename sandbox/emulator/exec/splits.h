#pragma once
// A warp whose lanes may have gone different ways: splits that run, and the places where they meet again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sandbox/emulator/exec/polls.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {

struct WarpRun;

// Where lanes that diverged at a branch meet: the branch's immediate post-dominator.
struct Join {
  std::uint32_t pc = 0;          // of the reconverge pseudo-operation
  std::uint32_t expected = 0;    // lanes that are still to come or have come
  std::uint32_t arrived = 0;
  Join* outer = nullptr;
};

enum class SplitState : std::uint8_t { ready, parked, warp_sync, block_barrier, cluster_barrier };

struct Split {
  WarpRun* warp = nullptr;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;        // lanes
  SplitState state = SplitState::ready;
  Join* join = nullptr;          // the innermost one that these lanes go to
  std::uint32_t members = 0;     // warp_sync: the membermask waited for; cluster_barrier: the lanes that wait
  unsigned barrier = 0;          // block_barrier: its number
  unsigned idle_wakes = 0;       // parked: how often it was let go because nothing else could run
  PollLog polls;
};

struct WarpRun {
  Warp warp;
  std::vector<std::unique_ptr<Split>> splits;  // those that live
  std::vector<std::unique_ptr<Join>> joins;
  std::uint32_t cluster_arrivals[32] = {};  // by lane: cluster barrier's generation + 1 that it arrived at and did not wait for; 0 none
};

// The split's lanes have come to its innermost joins at `pc`. False: they wait there, and the split is gone.
// True: the split goes on (with all lanes that met).
bool arrive_at_joins(Split& split, std::uint32_t pc);

// Lanes that reached a join go on without their partners: the most numerous group of this warp. Null: none waits.
Split* release_a_join(WarpRun& run);

// Takes `lanes` off the split into a new one at `pc` with the same join.
Split& fork(Split& split, std::uint32_t lanes, std::uint32_t pc);

// Divergence at a branch whose immediate post-dominator is `meeting` (kNoPc: none): the split keeps those that fall
// through, the new split has `taken` at `target`.
Split& diverge(Split& split, std::uint32_t taken, std::uint32_t target, std::uint32_t meeting);

// Lanes of this warp ended. Returns a split that may go on because a join it waited at is complete now, or null.
void lanes_exited(WarpRun& run, std::uint32_t lanes, std::vector<Split*>& ready);

void remove(Split& split);

}  // namespace onelaunch::emu
