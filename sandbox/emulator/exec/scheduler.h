#pragma once
// Who runs next: a queue of splits, and what happens when nobody can.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/splits.h"

namespace onelaunch::emu {

constexpr std::int64_t kQuantumInstructions = 4096;
constexpr std::uint64_t kLandingChance = 8;  // a copy lands after one of so many turns when the schedule is drawn,
constexpr std::uint64_t kLandingTurns = 4096;  // else after so many, however busy the others are
constexpr std::uint64_t kNoProgressInstructions = 50'000'000;
// A spinning loop may count its turns and give up: so often it is let go when nothing else can run, before the launch
// is called deadlocked.
constexpr unsigned kIdleWakesMax = 1000;
constexpr std::uint64_t kIdleNanoseconds = 1'000'000;  // of virtual time that pass at each

class Scheduler {
 public:
  Scheduler(Grid& grid, const LaunchOptions& options) : grid_(grid), options_(options) { grid.blocks = &blocks_; }

  // Starts as many blocks as are resident; later ones start when earlier ones end.
  void run(std::uint32_t blocks, std::uint32_t resident);
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }

 private:
  void start_cluster();
  void start_block(Cluster& cluster);
  void run_one();
  Split* take_next();
  void take_woken();
  void end_if_done(Block& block);
  bool wake_the_idle();                  // false: nobody is left who could go on
  bool is_time_to_land();
  bool land_a_copy();                    // false: none is under way
  bool out_of_limits();

  Grid& grid_;
  const LaunchOptions& options_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::deque<Split*> ready_;
  std::vector<Split*> let_go_;           // by the split that just ran; kept for its storage
  std::uint32_t blocks_total_ = 0, blocks_ended_ = 0, resident_ = 0;
  std::uint64_t last_progress_ = 0;      // grid_.instructions then
  double started_ = 0;
  std::uint64_t turns_ = 0;
};

// Runs a split until it waits, ends or has used its quantum. `ready` receives every split that may go on, itself
// included when it yielded.
void run_split(Split& split, std::int64_t quantum, std::vector<Split*>& ready);

// Splits parked on polled words go on.
void unpark(Grid& grid, Split& split);

// What everybody waits for, as a fault.
void report_deadlock(Grid& grid, const std::vector<std::unique_ptr<Block>>& blocks);

}  // namespace onelaunch::emu
