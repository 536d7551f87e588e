#include "sandbox/emulator/exec/barriers.h"

#include <algorithm>
#include <bit>
#include <string>

#include "sandbox/emulator/check/checker.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"

namespace onelaunch::emu {
namespace {

void fault(Split& split, const DecodedOp& op, Fault::Kind kind, const std::string& what) {
  FaultLog& faults = split.warp->warp.grid->faults;
  const Block& block = *split.warp->warp.block;
  if (faults.is_new(kind, op.site)) {
    faults.add(kind, op.site, faults.place(op.site) + ": " + what + "; block " + std::to_string(block.index) + " warp " +
                                  std::to_string(split.warp->warp.index));
  }
  faults.stop();
}

void give_result(Split& split, const DecodedOp& op, const BlockBarrier& barrier) {
  if (op.dst == kNoOperand) return;
  Warp& warp = split.warp->warp;
  const BarrierForm form = BarrierForm::unpack(op.extra);
  if (form.kind == BarrierForm::Kind::red_popc) {
    std::uint32_t* const row = warp.row_to_write<std::uint32_t>(op.dst);
    for (unsigned lane = 0; lane < 32; ++lane)
      if (split.mask >> lane & 1) row[lane] = barrier.count;
  } else {
    const bool value = form.kind == BarrierForm::Kind::red_and ? barrier.all : barrier.any;
    warp.set_predicate(op.dst, value ? ~0u : 0u, split.mask);
  }
}

// Lanes of a warp that came apart to an aligned barrier must have come to the same one, all of them.
void check_alignment(Block& block, BlockBarrier& barrier) {
  for (Split* split : barrier.waiting) {
    const DecodedOp& op = block.grid->program.ops[split->pc];
    if (!BarrierForm::unpack(op.extra).aligned || split->mask == split->members) continue;
    std::uint32_t here = 0;
    for (const Split* other : barrier.waiting)
      if (other->warp == split->warp && other->pc == split->pc) here |= other->mask;
    if (here == split->members) continue;
    return fault(*split, op, Fault::Kind::divergent_barrier,
                 "only part of the warp's lanes came to this aligned barrier, the others went another way");
  }
}

void complete(Block& block, BlockBarrier& barrier, std::vector<Split*>& ready) {
  check_alignment(block, barrier);
  if (Checker* const checker = block.grid->checker) {
    const auto number = static_cast<unsigned>(&barrier - block.barriers);
    for (const Split* split : barrier.waiting) checker->barrier_left(split->warp->warp, number);
    checker->barrier_ended(block, number);
  }
  for (Split* split : barrier.waiting) {
    give_result(*split, block.grid->program.ops[split->pc], barrier);
    ++split->pc;
    split->state = SplitState::ready;
    split->polls.clear();
    split->polls.previous = 0;
    ready.push_back(split);
  }
  barrier = BlockBarrier{.generation = barrier.generation + 1};
  Block* const alone = &block;
  close_chains({&alone, 1}, block.grid->chain.block_barrier_cycles);
}

bool is_complete(const Block& block, const BlockBarrier& barrier) {
  const std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
  return barrier.arrived != 0 && barrier.arrived >= expected;
}

void note_predicates(BlockBarrier& barrier, const Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  if (op.c == kNoOperand) return;
  const BarrierForm form = BarrierForm::unpack(op.extra);
  const std::uint32_t word = form.negated ? ~warp.predicate(op.c) : warp.predicate(op.c);
  barrier.all = barrier.all && (word & mask) == mask;
  barrier.any = barrier.any || (word & mask) != 0;
  barrier.count += static_cast<std::uint32_t>(std::popcount(word & mask));
}

}  // namespace

bool arrive_at_barrier(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready) {
  Warp& warp = split.warp->warp;
  Block& block = *warp.block;
  const unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t number = warp.row<std::uint32_t>(op.a)[lane];
  const bool counted = op.b != kNoOperand;
  const std::uint32_t threads = counted ? warp.row<std::uint32_t>(op.b)[lane] : 0;
  if (number >= kNamedBarriers)
    return fault(split, op, Fault::Kind::misuse, "barrier " + std::to_string(number) + " does not exist: there are 16"), false;
  if (counted && (threads % 32 != 0 || threads == 0))
    return fault(split, op, Fault::Kind::misuse, "its thread count " + std::to_string(threads) + " is not a multiple of 32"), false;
  BlockBarrier& barrier = block.barriers[number];
  if (counted && barrier.expected && barrier.expected != threads)
    return fault(split, op, Fault::Kind::misuse, "warps wait for different counts of threads at this barrier"), false;
  barrier.expected = threads;
  // A counted barrier counts whole warps, also of a block whose last warp is not full.
  barrier.arrived += counted && mask == warp.live ? 32 : static_cast<std::uint32_t>(std::popcount(mask));
  note_predicates(barrier, warp, op, mask);
  if (warp.grid->checker) warp.grid->checker->barrier_arrived(warp, number);
  ++warp.effects;
  const bool waits = BarrierForm::unpack(op.extra).kind != BarrierForm::Kind::arrive;
  if (barrier.expected && barrier.arrived > barrier.expected)
    return fault(split, op, Fault::Kind::misuse, "more threads arrived at barrier " + std::to_string(number) + " than the " + std::to_string(threads) + " it waits for"), false;
  if (waits) {
    split.state = SplitState::block_barrier;
    split.barrier = number;
    split.members = warp.live;
    barrier.waiting.push_back(&split);
  }
  if (is_complete(block, barrier)) complete(block, barrier, ready);
  return !waits;
}

void threads_exited(Block& block, std::vector<Split*>& ready) {
  if (block.live_threads == 0) return;
  for (BlockBarrier& barrier : block.barriers) {
    if (barrier.expected == 0 && !barrier.waiting.empty() && is_complete(block, barrier)) complete(block, barrier, ready);
  }
}

}  // namespace onelaunch::emu
