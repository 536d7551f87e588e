// The run loop: one split, operation after operation.

#include <bit>
#include <string>

#include "sandbox/emulator/exec/barriers.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/exec/collectives.h"
#include "sandbox/emulator/exec/print.h"
#include "sandbox/emulator/exec/scheduler.h"

namespace onelaunch::emu {
namespace {

enum class Next { go_on, yielded, waits, gone };

std::uint32_t guarded(const Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  if (op.guard == kNoOperand) return mask;
  const std::uint32_t lanes = warp.predicate(op.guard);
  return mask & (op.guard_negated ? ~lanes : lanes);
}

void count_block(Warp& warp, const BasicBlock& block) {
  for (std::size_t k = 0; k < kCostClasses; ++k) warp.work->classes[k] += block.classes[k];
  warp.grid->instructions += block.count;
  warp.block->instructions += block.count;
}

// A loop goes round again. True when it only looked at the same values as the time before, so that it may sleep.
bool is_spinning(Split& split) {
  PollLog& polls = split.polls;
  if (polls.seen.empty()) return false;
  const Warp& warp = split.warp->warp;
  const bool same = polls.previous == polls.signature && polls.effects_before == warp.effects;
  if (same) return true;
  if (polls.previous != polls.signature) split.idle_wakes = 0;
  polls.previous = polls.signature;
  polls.effects_before = warp.effects;
  polls.clear();
  return false;
}

void park(Split& split) {
  split.state = SplitState::parked;
  WatchTable& watches = split.warp->warp.grid->watches;
  for (const PollLog::Seen& seen : split.polls.seen) {
    if (seen.barrier) watches.watch_barrier(seen.address, &split);
    else watches.watch(seen.address, seen.bytes, &split);
  }
}

Next jump(Split& split, std::uint32_t target) {
  const bool back = target <= split.pc;
  split.pc = target;
  if (!back || !is_spinning(split)) return Next::go_on;
  park(split);
  return Next::waits;
}

Next branch(Split& split, const DecodedOp& op, std::uint32_t taken, std::vector<Split*>& ready) {
  if (taken == 0) return ++split.pc, Next::go_on;
  if (taken == split.mask) return jump(split, op.target);
  if (op.extra & 1) return report_fault(split.warp->warp, op, taken, "a uniform branch went two ways"), Next::gone;
  Split& other = diverge(split, taken, op.target, static_cast<std::uint32_t>(op.imm));
  other.polls = split.polls;
  const bool back = op.target <= split.pc;
  ++split.pc;
  if (back && is_spinning(other)) park(other);
  else ready.push_back(&other);
  return Next::go_on;
}

Next branch_indexed(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready) {
  Warp& warp = split.warp->warp;
  const std::uint32_t* const index = warp.row<std::uint32_t>(op.a);
  if (mask != split.mask) return report_fault(warp, op, mask, "a guarded brx.idx is not implemented"), Next::gone;
  for (;;) {
    const std::uint32_t leader = index[std::countr_zero(split.mask)];
    if (leader >= op.imm) return report_fault(warp, op, mask, "the index of brx.idx is outside its targets"), Next::gone;
    const std::uint32_t target = warp.operands[op.list + leader];
    std::uint32_t same = 0;
    for (std::uint32_t left = split.mask; left; left &= left - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
      if (index[lane] == leader) same |= 1u << lane;
    }
    if (same == split.mask) return jump(split, target);
    ready.push_back(&diverge(split, same, target, op.target));
  }
}

Next leave(Split& split, std::uint32_t lanes, std::vector<Split*>& ready) {
  WarpRun& run = *split.warp;
  Block& block = *run.warp.block;
  run.warp.live &= ~lanes;
  split.mask &= ~lanes;
  block.live_threads -= static_cast<std::uint32_t>(std::popcount(lanes));
  if (run.warp.live == 0) --block.live_warps;
  ++run.warp.effects;
  const bool gone = split.mask == 0;
  if (gone) remove(split);
  else ++split.pc;
  leave_cluster(run, lanes, ready);
  lanes_exited(run, lanes, ready);
  retry_collectives(run, ready);
  threads_exited(block, ready);
  return gone ? Next::gone : Next::go_on;
}

Next control(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready) {
  Warp& warp = split.warp->warp;
  switch (op.control) {
    case Control::reconverge:
      if (!arrive_at_joins(split, split.pc)) return Next::gone;
      return ++split.pc, Next::go_on;
    case Control::branch: return branch(split, op, mask, ready);
    case Control::branch_indexed: return branch_indexed(split, op, mask, ready);
    case Control::exit: return leave(split, mask, ready);
    case Control::trap: return report_trap(warp, op, mask), Next::gone;
    case Control::cluster_barrier:
      if (run_cluster_barrier(split, op, mask, ready)) return ++split.pc, Next::go_on;
      return Next::waits;
    case Control::block_barrier:
      if (arrive_at_barrier(split, op, mask, ready)) return ++split.pc, Next::go_on;
      return Next::waits;
    case Control::warp_sync:
    case Control::warp_collective: return run_collective(split, op, mask, ready) ? Next::go_on : Next::waits;
    case Control::nanosleep: return ++split.pc, Next::yielded;
    case Control::print: return print(warp, op, mask), ++split.pc, Next::go_on;
    default: return (mask == warp.live ? op.full : op.masked)(warp, op, mask), ++split.pc, Next::go_on;
  }
}

}  // namespace

void unpark(Grid& grid, Split& split) {
  for (const PollLog::Seen& seen : split.polls.seen) {
    if (seen.barrier) grid.watches.unwatch_barrier(seen.address, &split);
    else grid.watches.unwatch(seen.address, seen.bytes, &split);
  }
  split.polls.clear();
  split.state = SplitState::ready;
}

void run_split(Split& split, std::int64_t quantum, std::vector<Split*>& ready) {
  Warp& warp = split.warp->warp;
  Grid& grid = *warp.grid;
  warp.polls = &split.polls;
  const DecodedOp* const ops = grid.program.ops.data();
  const std::int64_t end = static_cast<std::int64_t>(grid.instructions) + quantum;
  for (;;) {
    const DecodedOp& op = ops[split.pc];
    if (op.control == Control::none) {
      const std::uint32_t mask = guarded(warp, op, split.mask);
      if (mask) (mask == warp.live ? op.full : op.masked)(warp, op, mask);
      ++split.pc;
      continue;
    }
    if (op.control == Control::block) {
      if (grid.faults.stopped()) return;
      if (static_cast<std::int64_t>(grid.instructions) >= end) return ready.push_back(&split);
      count_block(warp, grid.program.blocks[op.extra]);
      ++split.pc;
      continue;
    }
    const std::uint32_t mask = guarded(warp, op, split.mask);
    if (mask == 0 && op.control != Control::branch) {
      ++split.pc;
      continue;
    }
    const Next next = control(split, op, mask, ready);
    if (next == Next::go_on) continue;
    if (next == Next::yielded) ready.push_back(&split);
    return;
  }
}

}  // namespace onelaunch::emu
