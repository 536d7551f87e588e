#include "sandbox/emulator/check/checker.h"

#include <bit>
#include <cstring>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/memory/access.h"

namespace onelaunch::emu {
namespace {

using Kind = OpFacts::Kind;
using MarkKind = AccessMark::Kind;
constexpr unsigned kMatrixRowBytes = 16;

void run_checked(Warp& warp, const DecodedOp& op, std::uint32_t mask) { warp.grid->checker->run(warp, op, mask); }

AccessMark mark_of(const WarpClock& me, const DecodedOp& op, unsigned lane, MarkKind kind) {
  return {.agent = me.agent, .step = me.step, .site = op.site, .lane = static_cast<std::uint8_t>(lane), .kind = kind};
}

}  // namespace

Checker::Checker(Grid& grid, const Checks& checks, std::vector<OpFacts> facts, std::vector<DecodedOp> originals)
    : grid_(grid), checks_(checks), facts_(std::move(facts)), originals_(std::move(originals)), order_(grid), regions_(grid),
      races_(grid, order_, regions_) {}

std::vector<OpFacts> Checker::facts_of_all(const Program& program) {
  std::vector<OpFacts> facts;
  for (const DecodedOp& op : program.ops) {
    const bool pseudo = op.control == Control::block || op.control == Control::reconverge;
    facts.push_back(pseudo ? OpFacts{} : facts_of(program.sites[op.site].opcode));
  }
  return facts;
}

void Checker::replace(Program& program, const std::vector<OpFacts>& facts) {
  for (std::size_t pc = 0; pc < facts.size(); ++pc)
    if (facts[pc].kind != Kind::none) program.ops[pc].full = program.ops[pc].masked = &run_checked;
}

const Cluster* Checker::warp_cluster(const Warp& warp) { return warp.block->cluster; }

void Checker::barrier_arrived(const Warp& warp, unsigned barrier) { order_.arrive(*warp.block, barrier, order_.of(warp)); }
void Checker::barrier_left(const Warp& warp, unsigned barrier) { order_.leave(*warp.block, barrier, order_.of(warp)); }

// The original's fields are those of `op` but for the functions; its place tells which caches are its own.
void Checker::original(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const DecodedOp& from = originals_[static_cast<std::size_t>(&op - grid_.program.ops.data())];
  (mask == warp.live ? from.full : from.masked)(warp, op, mask);
}

void Checker::collect(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  lanes_.clear();
  const AccessForm form = AccessForm::unpack(op.extra);
  const bool matrix = facts.kind == Kind::matrix_load || facts.kind == Kind::matrix_store;
  if (matrix) {  // lanes 8i to 8i + 7 give the rows of matrix i
    const unsigned rows = (op.extra >> (kFormBits + 1)) * 8;
    mask = rows >= 32 ? ~0u : (1u << rows) - 1;
  }
  std::uint64_t last = 0;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = lane_address(warp, op, form, lane);
    if (address == last && facts.kind != Kind::store) return;  // all lanes at one word
    last = address;
    const Target target = regions_.find(warp, form.space, address, matrix ? kMatrixRowBytes : op.bytes);
    if (!target.region) return;
    lanes_.push_back({lane, target, {}});
    if (facts.kind == Kind::store) std::memcpy(lanes_.back().before, target.data, target.bytes);
  });
}

void Checker::read_of_undefined(const Target& target, const AccessMark& access, std::size_t first) {
  if (!grid_.faults.is_new(Fault::Kind::uninitialised_read, access.site)) return;
  grid_.faults.add(Fault::Kind::uninitialised_read, access.site,
                   races_.who(access) + " of " + grid_.program.name + " reads " + regions_.describe(*target.region, first) + ", which nobody has written");
}

void Checker::touch(Warp& warp, const Target& target, const AccessMark& access, bool changes, bool incoherent) {
  if (checks_.undefined && target.region->defined) {
    if (!access.writes() || changes) {
      const std::size_t first = target.region->defined->first_undefined(target.offset, target.bytes);
      if (first < target.offset + target.bytes) read_of_undefined(target, access, first);
    }
    if (access.writes()) target.region->defined->define(target.offset, target.bytes);
  }
  if (checks_.races) races_.note(target, access, order_.of(warp), sequence_, incoherent);
}

void Checker::load(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  collect(warp, op, mask, facts);
  original(warp, op, mask);
  WarpClock& me = order_.of(warp);
  for (const Lane& each : lanes_) {
    if (facts.strong) {
      for (unsigned at = 0; at < each.target.bytes; at += 4) order_.load(*warp.block, me, reinterpret_cast<std::uint64_t>(each.target.data + at) / 4, facts);
    }
    touch(warp, each.target, mark_of(me, op, each.lane, facts.strong ? MarkKind::strong_read : MarkKind::read), false, facts.incoherent);
  }
}

void Checker::store(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  collect(warp, op, mask, facts);
  original(warp, op, mask);
  WarpClock& me = order_.of(warp);
  for (const Lane& each : lanes_) {
    const bool same = facts.kind == Kind::store && std::memcmp(each.before, each.target.data, each.target.bytes) == 0;
    touch(warp, each.target, mark_of(me, op, each.lane, facts.strong ? MarkKind::strong_write : same ? MarkKind::same_write : MarkKind::write));
    if (!facts.strong) continue;
    for (unsigned at = 0; at < each.target.bytes; at += 4)
      order_.store(*warp.block, me, reinterpret_cast<std::uint64_t>(each.target.data + at) / 4, facts, false);
  }
  if (facts.releases) ++me.step;
}

void Checker::change(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts) {
  collect(warp, op, mask, facts);
  original(warp, op, mask);
  WarpClock& me = order_.of(warp);
  for (const Lane& each : lanes_) {
    touch(warp, each.target, mark_of(me, op, each.lane, MarkKind::strong_write), true);
    for (unsigned at = 0; at < each.target.bytes; at += 4) {
      const std::uint64_t word = reinterpret_cast<std::uint64_t>(each.target.data + at) / 4;
      order_.load(*warp.block, me, word, facts);
      order_.store(*warp.block, me, word, facts, true);
    }
  }
  if (facts.releases) ++me.step;
}

void Checker::run(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const OpFacts& facts = facts_[static_cast<std::size_t>(&op - grid_.program.ops.data())];
  ++sequence_;
  switch (facts.kind) {
    case Kind::load:
    case Kind::matrix_load: return load(warp, op, mask, facts);
    case Kind::store:
    case Kind::matrix_store: return store(warp, op, mask, facts);
    case Kind::atomic: return change(warp, op, mask, facts);
    case Kind::fence: order_.fence(order_.of(warp), facts.within_block); break;
    case Kind::proxy_fence: order_.of(warp).proxy_fence = sequence_; break;
    case Kind::small_arrive:
    case Kind::barrier_arrive: return arrive(warp, op, mask, facts);
    case Kind::barrier_wait: return wait(warp, op, mask, facts);
    case Kind::small_copy: copy_small(warp, op, mask); break;
    case Kind::bulk_copy: each_lane(mask, [&](unsigned lane) { copy_bulk(warp, op, lane); }); break;
    case Kind::async_store: store_async(warp, op, mask); break;
    default: end_groups(warp, op, mask, facts); break;
  }
  original(warp, op, mask);
}

}  // namespace onelaunch::emu
