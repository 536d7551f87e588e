#include "sandbox/emulator/check/order.h"

#include <algorithm>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {
namespace {

constexpr std::size_t kPendingWordsMax = 2048;

}  // namespace

Order::Order(const Grid& grid) : warps_per_block_((grid.shape.block + 31) / 32), agents_(grid.shape.grid * warps_per_block_), warps_(agents_) {
  for (Agent agent = 0; agent < warps_.size(); ++agent) warps_[agent].agent = agent;
}

WarpClock& Order::of(const Warp& warp) { return warps_[warp.block->index * warps_per_block_ + warp.index]; }

bool Order::has_pending(const WarpClock& warp, Agent agent, std::uint32_t step) const {
  return std::any_of(warp.pending_words.begin(), warp.pending_words.end(), [&](std::uint64_t at) {
    const auto found = words_.find(at);
    return found != words_.end() && found->second.device.of(agent) >= step;
  });
}

bool Order::read_relaxed(const WarpClock& warp, Agent agent, std::uint32_t step) const {
  const Agent first = warp.agent / warps_per_block_ * warps_per_block_;
  for (Agent each = first; each < first + warps_per_block_; ++each)
    if (warps_[each].pending.of(agent) >= step || has_pending(warps_[each], agent, step)) return true;
  return false;
}

// All that the warp has seen and done so far.
void Order::publish(WarpClock& warp, Clock& into) {
  into.join(warp.seen);
  into.raise(warp.agent, warp.step);
}

// Fences are rarer than relaxed loads: what a word held is joined when it is needed, by when it may hold more.
void Order::join_pending(WarpClock& warp) {
  for (const std::uint64_t at : warp.pending_words)
    if (const auto found = words_.find(at); found != words_.end()) warp.pending.join(found->second.device);
  warp.pending_words.clear();
}

void Order::fence(WarpClock& warp, bool within_block) {
  join_pending(warp);
  warp.seen.join(warp.pending);
  warp.pending.clear();
  publish(warp, warp.fenced_block);
  if (!within_block) publish(warp, warp.fenced_device);
  ++warp.step;
}

// `modifies`: an atomic, which keeps what earlier ones released.
void Order::store(const Block& block, WarpClock& warp, std::uint64_t at, const OpFacts& facts, bool modifies) {
  Word& word = words_[at];
  if (!modifies) word = {};
  if (word.owner != &block) word.block.clear(), word.owner = &block;
  if (facts.releases) {
    publish(warp, word.block);
    if (!facts.within_block) publish(warp, word.device);
    return;
  }
  word.block.join(warp.fenced_block);
  if (!facts.within_block) word.device.join(warp.fenced_device);
}

void Order::load(const Block& block, WarpClock& warp, std::uint64_t at, const OpFacts& facts) {
  const auto found = words_.find(at);
  if (found == words_.end()) return;
  const bool own = found->second.owner == &block;
  if (facts.acquires) {
    if (!facts.within_block) warp.seen.join(found->second.device);
    if (own) warp.seen.join(found->second.block);
    return;
  }
  if (own) warp.pending.join(found->second.block);
  if (facts.within_block || !warp.pending_words.insert(at).second) return;
  if (warp.pending_words.size() >= kPendingWordsMax) join_pending(warp);
}

void Order::arrive(const Block& block, unsigned barrier, WarpClock& warp) {
  Meeting& meeting = meetings_[{&block, barrier}];
  // Warps that left the last barrier together share one clock.
  if (!warp.seen.same_as(meeting.last_joined)) meeting.arriving.join(warp.seen);
  meeting.last_joined = warp.seen;
  meeting.arriving.raise(warp.agent, warp.step);
  ++warp.step;
}

void Order::leave(const Block& block, unsigned barrier, WarpClock& warp) { warp.seen = meetings_[{&block, barrier}].arriving; }

void Order::end_generation(const Block& block, unsigned barrier) { meetings_[{&block, barrier}] = {}; }

void Order::arrive(const Cluster& cluster, WarpClock& warp, bool relaxed) {
  if (relaxed) return;
  publish(warp, cluster_meetings_[&cluster].arriving);
  ++warp.step;
}

void Order::end_generation(const Cluster& cluster) {
  Meeting& meeting = cluster_meetings_[&cluster];
  meeting.left = meeting.arriving;
  meeting.arriving.clear();
}

void Order::leave(const Cluster& cluster, WarpClock& warp) { warp.seen.join(cluster_meetings_[&cluster].left); }

Order::Phase& Order::phase_of(const Block& home, std::uint32_t offset) {
  const auto [found, fresh] = phases_.try_emplace({&home, offset});
  if (fresh) found->second.agent = new_agent();
  return found->second;
}

Agent Order::agent_of_mbarrier(const Block& home, std::uint32_t offset) { return phase_of(home, offset).agent; }

void Order::arrive_mbarrier(const Block& home, std::uint32_t offset, WarpClock& warp, bool releases) {
  if (releases) publish(warp, phase_of(home, offset).arriving);
}

void Order::copies_arrive(const Block& home, std::uint32_t offset, const CopyGroups& copies) {
  if (copies.issued) phase_of(home, offset).arriving.raise(copies.agent, copies.issued);
}

void Order::end_phase(const Block& home, std::uint32_t offset, std::uint64_t number) {
  Phase& phase = phase_of(home, offset);
  phase.completed = phase.arriving;
  phase.completed.raise(phase.agent, static_cast<std::uint32_t>(number + 1));
  phase.arriving.clear();
}

void Order::leave_mbarrier(const Block& home, std::uint32_t offset, WarpClock& warp) { warp.seen.join(phase_of(home, offset).completed); }

}  // namespace onelaunch::emu
