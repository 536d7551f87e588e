// Nobody can go on: who waits where, and for what.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "sandbox/emulator/exec/barriers.h"
#include "sandbox/emulator/exec/scheduler.h"

namespace onelaunch::emu {
namespace {

constexpr std::size_t kGroupsShown = 6;

struct Group {
  std::uint32_t first_block = 0, last_block = 0;
  std::size_t blocks = 0, splits = 0;
  std::string example;
};

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string last_writer(const Grid& grid, std::uint64_t address) {
  const auto found = grid.stamps.find(address / 4);
  if (found == grid.stamps.end()) return ", never changed by a strong store or atomic";
  const Stamp& stamp = found->second;
  return ", last changed by block " + std::to_string(stamp.block) + " warp " + std::to_string(stamp.warp) + " lane " +
         std::to_string(stamp.lane) + " at " + grid.faults.where(stamp.site);
}

std::string mbarrier_text(const Split& split, std::uint64_t address) {
  for (const Block* block : split.warp->warp.block->cluster->blocks) {
    const std::uint64_t shared = reinterpret_cast<std::uint64_t>(block->shared);
    if (block->has_shared() && address >= shared && address < shared + block->shared_end)
      return describe_mbarrier(*block, static_cast<std::uint32_t>(address - shared));
  }
  return "an mbarrier of a block that has ended";
}

std::string poll_text(const Grid& grid, const Split& split) {
  if (split.polls.seen.empty()) return "polls";
  const PollLog::Seen& seen = split.polls.seen.front();
  if (seen.barrier) return "waits for the end of phase " + std::to_string(seen.value) + " of " + mbarrier_text(split, seen.address);
  return "polls " + grid.memory.describe(seen.address) + " = " + (seen.bytes <= 8 ? std::to_string(seen.value) : hex(seen.value)) +
         last_writer(grid, seen.address);
}

std::string barrier_text(const Split& split) {
  const Block& block = *split.warp->warp.block;
  const BlockBarrier& barrier = block.barriers[split.barrier];
  const std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
  return "waits at block barrier " + std::to_string(split.barrier) + ": " + std::to_string(barrier.arrived) + " of " +
         std::to_string(expected) + " threads arrived";
}

std::string cluster_text(const Cluster& cluster) {
  return "waits at the cluster barrier: " + std::to_string(cluster.arrived) + " of " + std::to_string(cluster.live) + " threads arrived";
}

std::string what_it_waits_for(const Grid& grid, const Split& split) {
  switch (split.state) {
    case SplitState::parked: return poll_text(grid, split);
    case SplitState::block_barrier: return barrier_text(split);
    case SplitState::cluster_barrier: return cluster_text(*split.warp->warp.block->cluster);
    case SplitState::warp_sync: return "waits for lanes " + hex(split.members & split.warp->warp.live & ~split.mask) + " of its warp";
    default: return "is ready";
  }
}

std::uint32_t site_of(const Grid& grid, const Split& split) {
  if (split.state == SplitState::parked && !split.polls.seen.empty()) return split.polls.seen.front().site;
  return grid.program.ops[split.pc].site;
}

}  // namespace

void report_deadlock(Grid& grid, const std::vector<std::unique_ptr<Block>>& blocks) {
  std::map<std::tuple<int, std::uint32_t>, Group> groups;
  for (const auto& block : blocks) {
    for (const auto& run : block->warps) {
      for (const auto& split : run->splits) {
        const std::uint32_t site = site_of(grid, *split);
        auto [at, fresh] = groups.try_emplace({static_cast<int>(split->state), site});
        Group& group = at->second;
        if (fresh) {
          group.first_block = block->index;
          group.example = "warp " + std::to_string(run->warp.index) + " " + what_it_waits_for(grid, *split) + ", at " + grid.faults.where(site);
        }
        if (fresh || group.last_block != block->index) ++group.blocks;
        group.last_block = block->index;
        ++group.splits;
      }
    }
  }
  std::string text = "deadlock: nobody can go on";
  std::size_t shown = 0;
  for (const auto& [key, group] : groups) {
    if (shown++ == kGroupsShown) break;
    text += "\n  " + std::to_string(group.blocks) + " block(s) from " + std::to_string(group.first_block) + " to " +
            std::to_string(group.last_block) + ": " + group.example;
  }
  const std::uint32_t site = groups.empty() ? 0 : std::get<1>(groups.begin()->first);
  grid.faults.add(Fault::Kind::deadlock, site, text);
  grid.faults.stop();
}

}  // namespace onelaunch::emu
