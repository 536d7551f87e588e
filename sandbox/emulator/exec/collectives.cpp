#include "sandbox/emulator/exec/collectives.h"

#include <bit>

#include "sandbox/emulator/exec/grid.h"

namespace onelaunch::emu {
namespace {

const DecodedOp& op_at(const Split& split) { return split.warp->warp.grid->program.ops[split.pc]; }

std::uint32_t membermask(const Warp& warp, const DecodedOp& op, std::uint32_t lane) {
  const std::uint32_t operand = op.control == Control::warp_sync ? op.a : op.c;
  return operand == kNoOperand ? ~0u : warp.row<std::uint32_t>(operand)[lane];
}

// Lanes of `mask` that name the same members as its lowest lane.
std::uint32_t agreeing(const Warp& warp, const DecodedOp& op, std::uint32_t mask, std::uint32_t members) {
  std::uint32_t lanes = 0;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (membermask(warp, op, lane) == members) lanes |= 1u << lane;
  }
  return lanes;
}

void execute(Warp& warp, const DecodedOp& op, std::uint32_t lanes) {
  if (op.control == Control::warp_sync) return;
  (lanes == warp.live ? op.full : op.masked)(warp, op, lanes);
}

// bar.warp.sync meets at any place, the others at one and the same operation.
bool meets(const Split& a, const Split& b) {
  if (a.members != b.members) return false;
  if (a.pc == b.pc) return true;
  return op_at(a).control == Control::warp_sync && op_at(b).control == Control::warp_sync;
}

// All that wait with `split` go on if they are complete.
bool complete(Split& split, std::vector<Split*>& ready) {
  WarpRun& run = *split.warp;
  std::uint32_t here = 0;
  for (const auto& other : run.splits)
    if (other->state == SplitState::warp_sync && meets(split, *other)) here |= other->mask;
  if (here != (split.members & run.warp.live)) return false;
  execute(run.warp, op_at(split), here);
  std::vector<Split*> met;
  for (const auto& other : run.splits)
    if (other->state == SplitState::warp_sync && meets(split, *other)) met.push_back(other.get());
  for (Split* each : met) {
    each->state = SplitState::ready;
    ++each->pc;
    ready.push_back(each);
  }
  return true;
}

}  // namespace

bool run_collective(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready) {
  Warp& warp = split.warp->warp;
  if (mask != split.mask) {  // guarded lanes go their own way past it
    Split& passing = fork(split, split.mask & ~mask, split.pc + 1);
    ready.push_back(&passing);
  }
  const auto lowest = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t members = membermask(warp, op, lowest), same = agreeing(warp, op, mask, members);
  if (same != mask) {  // groups with masks of their own
    Split& others = fork(split, mask & ~same, split.pc);
    ready.push_back(&others);
  }
  if ((members & same) != same) {
    report_fault(warp, op, same & ~members, "a lane that is not in the membermask executes it");
    return false;
  }
  if ((members & warp.live) == split.mask) {
    execute(warp, op, split.mask);
    ++split.pc;
    return true;
  }
  split.state = SplitState::warp_sync;
  split.members = members;
  complete(split, ready);
  return false;
}

void retry_collectives(WarpRun& run, std::vector<Split*>& ready) {
  for (std::size_t i = 0; i < run.splits.size(); ++i) {
    if (run.splits[i]->state == SplitState::warp_sync) complete(*run.splits[i], ready);
  }
}

}  // namespace onelaunch::emu
