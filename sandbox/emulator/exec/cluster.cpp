#include "sandbox/emulator/exec/cluster.h"

#include <bit>

#include "sandbox/emulator/check/checker.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"

namespace onelaunch::emu {
namespace {

constexpr unsigned kRankShift = 24;

void complete_if_due(Cluster& cluster, std::vector<Split*>& ready) {
  if (cluster.arrived != cluster.live || cluster.arrived == 0) return;
  ++cluster.generation;
  cluster.arrived = 0;
  Checker* const checker = cluster.blocks.front()->grid->checker;
  if (checker) checker->cluster_ended(cluster);
  for (Split* split : cluster.waiting) {
    if (checker) checker->cluster_left(split->warp->warp);
    for (unsigned lane = 0; lane < 32; ++lane)
      if (split->members >> lane & 1) split->warp->cluster_arrivals[lane] = 0;
    ++split->pc;
    split->state = SplitState::ready;
    split->polls.clear();
    split->polls.previous = 0;
    ready.push_back(split);
  }
  cluster.waiting.clear();
  close_chains(cluster.blocks, cluster.blocks.front()->grid->chain.cluster_barrier_cycles);
}

bool arrive(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready) {
  Warp& warp = split.warp->warp;
  Cluster& cluster = *warp.block->cluster;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (split.warp->cluster_arrivals[lane] != 0)
      return report_fault(warp, op, 1u << lane, "a thread arrives at the cluster barrier again without having waited"), false;
    split.warp->cluster_arrivals[lane] = cluster.generation + 1;
  }
  if (warp.grid->checker) warp.grid->checker->cluster_arrived(warp, ClusterBarrierForm::unpack(op.extra).relaxed);
  cluster.arrived += static_cast<std::uint32_t>(std::popcount(mask));
  ++warp.effects;
  complete_if_due(cluster, ready);
  return true;
}

bool wait(Split& split, const DecodedOp& op, std::uint32_t mask) {
  Warp& warp = split.warp->warp;
  Cluster& cluster = *warp.block->cluster;
  bool open = false;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    std::uint32_t& arrival = split.warp->cluster_arrivals[lane];
    if (arrival == 0) return report_fault(warp, op, 1u << lane, "a thread waits at the cluster barrier without having arrived"), false;
    if (arrival == cluster.generation + 1) open = true;
    else arrival = 0;
  }
  if (!open) {
    if (warp.grid->checker) warp.grid->checker->cluster_left(warp);
    return true;
  }
  split.state = SplitState::cluster_barrier;
  split.members = mask;
  cluster.waiting.push_back(&split);
  return false;
}

}  // namespace

Block* shared_home(Block& own, std::uint32_t address) {
  const std::uint32_t field = address >> kRankShift;
  if (field == 0) return &own;
  const Cluster& cluster = *own.cluster;
  return field <= cluster.blocks.size() ? cluster.blocks[field - 1] : nullptr;
}

std::uint32_t rank_in_cluster(const Block& block) { return block.index - block.cluster->first; }

bool run_cluster_barrier(Split& split, const DecodedOp& op, std::uint32_t mask, std::vector<Split*>& ready) {
  const ClusterBarrierForm form = ClusterBarrierForm::unpack(op.extra);
  if (form.aligned && mask != split.warp->warp.live) {
    report_fault(split.warp->warp, op, mask, "only part of the warp's lanes came to this aligned cluster barrier");
    return false;
  }
  return form.waits ? wait(split, op, mask) : arrive(split, op, mask, ready);
}

void leave_cluster(WarpRun& run, std::uint32_t lanes, std::vector<Split*>& ready) {
  Cluster& cluster = *run.warp.block->cluster;
  cluster.live -= static_cast<std::uint32_t>(std::popcount(lanes));
  for (std::uint32_t left = lanes; left; left &= left - 1) {
    if (run.cluster_arrivals[std::countr_zero(left)] == cluster.generation + 1) --cluster.arrived;
  }
  if (cluster.live != 0) complete_if_due(cluster, ready);
}

}  // namespace onelaunch::emu
