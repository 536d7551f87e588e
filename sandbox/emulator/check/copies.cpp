// What copies and mbarriers mean to the detectors. A copy is an agent of its own, which starts when it is issued.
#include <algorithm>
#include <bit>

#include "sandbox/emulator/async/bulk.h"
#include "sandbox/emulator/check/checker.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/address_list.h"

namespace onelaunch::emu {
namespace {

using Kind = OpFacts::Kind;
using MarkKind = AccessMark::Kind;
constexpr unsigned kRankShift = 24;
constexpr std::uint32_t kOffsetMask = (1u << kRankShift) - 1;
constexpr std::uint64_t kWindowMask = 0xffffull << 48;

struct BarrierAt {
  Block* home = nullptr;
  std::uint32_t offset = 0;
};

// Shared and generic addresses alike; a wrong one is reported by the operation itself.
BarrierAt barrier_at(const Warp& warp, std::uint64_t address) {
  const auto low = static_cast<std::uint32_t>(address & ~kWindowMask);
  Block* const home = shared_home(*warp.block, low);
  return {home && home->mbarriers.contains(low & kOffsetMask) ? home : nullptr, low & kOffsetMask};
}

}  // namespace

void Checker::ensure(CopyGroups& groups, Agent issuer) {
  if (groups.issued++ != 0) return;
  groups.agent = order_.new_agent();
  races_.name_agent(groups.agent, issuer);
}

AccessMark Checker::copy_mark(const Warp&, const DecodedOp& op, Agent agent, std::uint32_t step, unsigned lane, MarkKind kind) {
  return {.agent = agent, .step = step, .site = op.site, .lane = static_cast<std::uint8_t>(lane), .kind = kind, .async = true};
}

// A mark of the copies that complete on the barrier at this address; agent 0 and step 0 when there is none.
AccessMark Checker::barrier_mark(Warp& warp, const DecodedOp& op, std::uint64_t address, unsigned lane) {
  const BarrierAt at = barrier_at(warp, address);
  if (!at.home) return {};
  const Agent agent = order_.agent_of_mbarrier(*at.home, at.offset);
  races_.name_agent(agent, order_.of(warp).agent);
  return copy_mark(warp, op, agent, static_cast<std::uint32_t>(at.home->mbarriers.at(at.offset).phase + 1), lane, MarkKind::read);
}

void Checker::arrive(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  const AccessForm form = AccessForm::unpack(op.extra);
  WarpClock& me = order_.of(warp);
  const bool copies = facts.kind == Kind::small_arrive;
  each_lane(mask, [&](unsigned lane) {
    const BarrierAt at = barrier_at(warp, lane_address(warp, op, form, lane));
    if (!at.home) return;
    order_.arrive_mbarrier(*at.home, at.offset, me, facts.releases || copies);
    if (copies) order_.copies_arrive(*at.home, at.offset, me.small);
  });
  original(warp, op, mask);
  ++me.step;
}

void Checker::wait(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  original(warp, op, mask);
  const AccessForm form = AccessForm::unpack(op.extra);
  std::uint64_t last = 0;
  each_lane(warp.predicate(op.dst) & mask, [&](unsigned lane) {
    const std::uint64_t address = lane_address(warp, op, form, lane);
    if (address == last || !facts.acquires) return;
    last = address;
    const BarrierAt at = barrier_at(warp, address);
    if (at.home) order_.leave_mbarrier(*at.home, at.offset, order_.of(warp));
  });
}

void Checker::copy_small(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  WarpClock& me = order_.of(warp);
  ensure(me.small, me.agent);
  each_lane(mask, [&](unsigned lane) {
    const std::uint32_t taken = op.b == kNoOperand ? op.bytes : std::min<std::uint32_t>(op.bytes, warp.row<std::uint32_t>(op.b)[lane]);
    AccessMark mark = copy_mark(warp, op, me.small.agent, me.small.issued, lane, MarkKind::read);
    mark.async = false;
    if (const Target source = regions_.find(warp, MemorySpace::global, listed_address(warp, op, 1, lane), taken); source.region && taken) touch(warp, source, mark);
    mark.kind = MarkKind::write;
    if (const Target target = regions_.find(warp, MemorySpace::shared, listed_address(warp, op, 0, lane), op.bytes); target.region) touch(warp, target, mark);
  });
}

void Checker::copy_bulk(Warp& warp, const DecodedOp& op, unsigned lane) {
  const BulkForm form = BulkForm::unpack(op.extra);
  const std::uint32_t bytes = warp.row<std::uint32_t>(op.b)[lane];
  const auto space = [](bool shared) { return shared ? MemorySpace::shared : MemorySpace::global; };
  const auto visit = [&](bool shared, std::uint64_t address, const AccessMark& mark) {
    const Target target = bytes ? regions_.find(warp, space(shared), address, bytes) : Target{};
    if (target.region) touch(warp, target, mark, form.reduces && mark.writes());
  };
  const std::uint64_t from = listed_address(warp, op, 1, lane), to = listed_address(warp, op, 0, lane);
  WarpClock& me = order_.of(warp);
  if (!form.barrier) {
    ensure(me.bulk_read, me.agent);
    ensure(me.bulk_write, me.agent);
    visit(form.from_shared, from, copy_mark(warp, op, me.bulk_read.agent, me.bulk_read.issued, lane, MarkKind::read));
    const MarkKind kind = form.reduces ? MarkKind::strong_write : MarkKind::write;
    return visit(form.to_shared, to, copy_mark(warp, op, me.bulk_write.agent, me.bulk_write.issued, lane, kind));
  }
  const std::uint64_t barrier = listed_address(warp, op, 2, lane);
  const std::uint32_t ranks = form.multicast ? warp.row<std::uint32_t>(op.c)[lane] & 0xffff : 1;
  bool read = false;
  for (std::uint32_t rank = 0; rank < warp.block->cluster->blocks.size(); ++rank) {
    if (!(ranks >> rank & 1)) continue;
    const auto placed = [&](std::uint64_t address) { return form.multicast ? (address & kOffsetMask) | std::uint64_t{rank + 1} << kRankShift : address; };
    AccessMark mark = barrier_mark(warp, op, placed(barrier), lane);
    if (mark.step == 0) continue;
    if (!read) visit(form.from_shared, from, mark);
    read = true;
    mark.kind = form.reduces ? MarkKind::strong_write : MarkKind::write;
    visit(form.to_shared, placed(to), mark);
  }
}

void Checker::store_async(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    const Target target = regions_.find(warp, MemorySpace::shared, listed_address(warp, op, 0, lane), op.bytes);
    AccessMark mark = barrier_mark(warp, op, listed_address(warp, op, 1, lane), lane);
    mark.kind = op.imm ? MarkKind::strong_write : MarkKind::write;
    if (target.region && mark.step) touch(warp, target, mark, op.imm != 0);
  });
}

void Checker::end_groups(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  WarpClock& me = order_.of(warp);
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const auto commit = [](CopyGroups& groups) { groups.committed.push_back(groups.issued); };
  const auto wait = [&](const CopyGroups& groups, std::size_t kept) {
    if (groups.issued && groups.committed.size() > kept) me.seen.raise(groups.agent, groups.committed[groups.committed.size() - 1 - kept]);
  };
  const std::size_t kept = op.b == kNoOperand ? 0 : warp.row<std::uint32_t>(op.b)[lane];
  switch (facts.kind) {
    case Kind::small_commit: return commit(me.small);
    case Kind::small_wait: return wait(me.small, kept);
    case Kind::small_wait_all: return commit(me.small), wait(me.small, 0);
    case Kind::bulk_commit: return commit(me.bulk_read), commit(me.bulk_write);
    case Kind::bulk_wait:
      wait(me.bulk_read, kept);
      if (!facts.reads_only) wait(me.bulk_write, kept);
      return;
    default: return;
  }
}

}  // namespace onelaunch::emu
