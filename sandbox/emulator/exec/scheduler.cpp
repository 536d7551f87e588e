#include "sandbox/emulator/exec/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <string>

namespace onelaunch::emu {
namespace {

double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::size_t kRowAlignment = 64;
constexpr std::size_t kL1BytesMin = 8 << 10;

// Registers and local memory of all warps of a block, zeroed.
struct BlockStorage {
  std::size_t registers = 0, local = 0;  // bytes a warp
};

BlockStorage storage_of(const Program& program) {
  const auto up = [](std::size_t bytes) { return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment; };
  return {up(program.layout.bytes), up(std::size_t{program.local_bytes} * 32)};
}

std::byte* aligned(std::vector<std::byte>& storage) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return storage.data() + (kRowAlignment - address % kRowAlignment) % kRowAlignment;
}

void add_warp(Block& block, std::uint32_t index, std::byte* registers, std::byte* local, const std::byte* constants) {
  Grid& grid = *block.grid;
  auto run = std::make_unique<WarpRun>();
  Warp& warp = run->warp;
  warp.registers = registers;
  warp.local = local;
  warp.constants = constants;
  warp.operands = grid.program.operands.data();
  warp.block = &block;
  warp.grid = &grid;
  warp.index = index;
  const std::uint32_t threads = std::min(32u, block.threads - index * 32);
  warp.live = threads == 32 ? ~0u : (1u << threads) - 1;
  warp.work = &block.phase(0);
  run->splits.push_back(std::make_unique<Split>());
  run->splits.back()->warp = run.get();
  run->splits.back()->mask = warp.live;
  block.warps.push_back(std::move(run));
}

}  // namespace

void Scheduler::start_cluster() {
  clusters_.push_back(std::make_unique<Cluster>());
  Cluster& cluster = *clusters_.back();
  cluster.first = static_cast<std::uint32_t>(blocks_.size());
  while (cluster.blocks.size() < grid_.shape.cluster) start_block(cluster);
}

void Scheduler::start_block(Cluster& cluster) {
  auto block = std::make_unique<Block>();
  block->grid = &grid_;
  block->index = static_cast<std::uint32_t>(blocks_.size());
  block->threads = block->live_threads = grid_.shape.block;
  block->cluster = &cluster;
  cluster.live += block->threads;
  cluster.blocks.push_back(block.get());
  block->live_warps = (block->threads + 31) / 32;
  const std::size_t shared = grid_.program.shared_static_bytes + grid_.shape.dynamic_shared_bytes;
  block->shared_end = kSharedStart + static_cast<std::uint32_t>(shared);
  const std::size_t blocks_a_sm = (std::min(blocks_total_, resident_) + static_cast<std::uint32_t>(grid_.sms) - 1) / static_cast<std::uint32_t>(grid_.sms);
  const std::size_t l1 = grid_.l1_bytes / blocks_a_sm;
  block->l1.resize(l1 > shared + kL1BytesMin ? l1 - shared : kL1BytesMin);
  const BlockStorage storage = storage_of(grid_.program);
  const std::size_t shared_bytes = (block->shared_end + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  block->shared_storage.resize(shared_bytes + (storage.registers + storage.local) * block->live_warps + kRowAlignment);
  block->shared = aligned(block->shared_storage);
  std::byte* next = block->shared + shared_bytes;
  for (std::uint32_t w = 0; w < (block->threads + 31) / 32; ++w) {
    add_warp(*block, w, next, next + storage.registers, grid_.constants);
    next += storage.registers + storage.local;
    ready_.push_back(block->warps.back()->splits.front().get());
  }
  blocks_.push_back(std::move(block));
}

Split* Scheduler::take_next() {
  if (grid_.schedule_seed != 0 && ready_.size() > 1) std::swap(ready_.front(), ready_[grid_.random() % ready_.size()]);
  Split* const next = ready_.front();
  ready_.pop_front();
  return next;
}

void Scheduler::take_woken() {
  std::vector<Split*>& woken = grid_.watches.woken();
  while (!woken.empty()) {
    Split* const split = woken.back();
    woken.pop_back();
    if (split->state != SplitState::parked) continue;  // woken by two words at once
    unpark(grid_, *split);
    split->idle_wakes = 0;
    ready_.push_back(split);
  }
}

void Scheduler::end_if_done(Block& block) {
  if (block.live_warps != 0 || block.shared_storage.empty()) return;
  for (const auto& run : block.warps) enter_phase(run->warp, run->warp.phase + 1);  // closes its chain
  if (grid_.flights.any()) grid_.flights.block_ends(grid_, block);
  block.warps.clear();
  block.shared_storage = {};
  block.mbarriers.clear();
  ++blocks_ended_;
  if (block.cluster->live == 0 && blocks_.size() < blocks_total_) start_cluster();
}

bool Scheduler::out_of_limits() {
  const std::uint64_t instructions = grid_.instructions;
  if (options_.instructions_max && instructions > options_.instructions_max) {
    grid_.faults.add(Fault::Kind::instruction_limit, 0, "stopped after " + std::to_string(instructions) + " warp instructions");
    return true;
  }
  if (options_.seconds_max > 0 && turns_ % 64 == 0 && host_seconds() - started_ > options_.seconds_max) {
    grid_.faults.add(Fault::Kind::time_limit, 0, "stopped after " + std::to_string(options_.seconds_max) + " s on the host");
    return true;
  }
  return false;
}

void Scheduler::run_one() {
  Split* const split = take_next();
  Warp& warp = split->warp->warp;
  Block& block = *warp.block;
  const std::uint32_t site = grid_.program.ops[split->pc].site, effects = warp.effects;
  let_go_.clear();
  const std::int64_t quantum =
      grid_.schedule_seed == 0 ? kQuantumInstructions : static_cast<std::int64_t>(64 + grid_.random() % (kQuantumInstructions - 63));
  run_split(*split, quantum, let_go_);
  ready_.insert(ready_.end(), let_go_.begin(), let_go_.end());
  if (warp.effects != effects) last_progress_ = grid_.instructions;
  if (!grid_.watches.woken().empty()) take_woken();
  end_if_done(block);
  if (grid_.instructions - last_progress_ > kNoProgressInstructions) {
    grid_.faults.add(Fault::Kind::no_progress, site,
                     "no progress: " + std::to_string(kNoProgressInstructions) +
                         " warp instructions without a store, an atomic or a barrier; it loops at " + grid_.faults.where(site) +
                         ", block " + std::to_string(block.index));
    grid_.faults.stop();
  }
}

bool Scheduler::is_time_to_land() {
  if (!grid_.flights.any()) return false;
  return grid_.schedule_seed != 0 ? grid_.random() % kLandingChance == 0 : turns_ % kLandingTurns == 0;
}

bool Scheduler::land_a_copy() {
  if (!grid_.flights.any()) return false;
  grid_.flights.land(grid_, grid_.schedule_seed == 0 ? 0 : grid_.random() % grid_.flights.count());
  take_woken();
  return true;
}

// Lanes that wait for their partners at a join go on without them, then those that spin get another turn.
bool Scheduler::wake_the_idle() {
  bool any = false;
  for (const auto& block : blocks_) {
    for (const auto& run : block->warps) {
      if (Split* const split = release_a_join(*run)) ready_.push_back(split), any = true;
    }
  }
  if (any) return true;
  for (const auto& block : blocks_) {
    for (const auto& run : block->warps) {
      for (const auto& split : run->splits) {
        if (split->state != SplitState::parked || split->idle_wakes >= kIdleWakesMax) continue;
        ++split->idle_wakes;
        unpark(grid_, *split);
        ready_.push_back(split.get());
        any = true;
      }
    }
  }
  grid_.skipped_ns += kIdleNanoseconds;
  return any;
}

void Scheduler::run(std::uint32_t blocks, std::uint32_t resident) {
  started_ = host_seconds();
  blocks_total_ = blocks;
  resident_ = resident;
  blocks_.reserve(blocks);
  while (blocks_.size() < std::min(blocks, resident)) start_cluster();
  while (blocks_ended_ < blocks_total_ && !grid_.faults.stopped()) {
    ++turns_;
    if (is_time_to_land()) land_a_copy();
    if (ready_.empty() && (land_a_copy() || grid_.faults.stopped())) continue;
    if (ready_.empty() && !wake_the_idle()) return report_deadlock(grid_, blocks_);
    if (out_of_limits()) return;
    run_one();
  }
  if (!grid_.faults.stopped()) grid_.flights.land_all(grid_);
}

}  // namespace onelaunch::emu
