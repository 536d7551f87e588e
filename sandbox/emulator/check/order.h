#pragma once
// Who has seen what: the clocks of all warps, and what passes them on (barriers, fences, releases and acquires, copies).

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sandbox/emulator/check/clock.h"
#include "sandbox/emulator/check/facts.h"

namespace onelaunch::emu {

struct Block;
struct Cluster;
struct Grid;
struct Warp;

// The groups of copies that one warp has issued, of one sort.
struct CopyGroups {
  Agent agent = 0;
  std::uint32_t issued = 0;              // copies so far: the agent's step
  std::vector<std::uint32_t> committed;  // `issued` at each commit
};

struct WarpClock {
  Agent agent = 0;
  std::uint32_t step = 1;
  Clock seen;                            // of the others
  Clock fenced_block, fenced_device;     // what the last fence of either scope published
  Clock pending;                         // read by relaxed loads, not acquired yet
  std::unordered_set<std::uint64_t> pending_words;  // the same, of words whose clocks have not been joined yet
  std::uint64_t proxy_fence = 0;         // sequence number of the last fence.proxy.async
  CopyGroups small, bulk_read, bulk_write;

  bool knows(Agent other, std::uint32_t other_step) const { return other == agent || seen.of(other) >= other_step; }
};

class Order {
 public:
  explicit Order(const Grid& grid);

  WarpClock& of(const Warp& warp);
  // Null for agents that are not warps.
  const WarpClock* warp_of(Agent agent) const { return agent < warps_.size() ? &warps_[agent] : nullptr; }
  // Whether a warp of this one's block read, without acquiring it, what orders that step.
  bool read_relaxed(const WarpClock& warp, Agent agent, std::uint32_t step) const;
  Agent new_agent() { return agents_++; }

  void fence(WarpClock& warp, bool within_block);
  void store(const Block& block, WarpClock& warp, std::uint64_t word, const OpFacts& facts, bool modifies);
  void load(const Block& block, WarpClock& warp, std::uint64_t word, const OpFacts& facts);

  void arrive(const Block& block, unsigned barrier, WarpClock& warp);
  void leave(const Block& block, unsigned barrier, WarpClock& warp);
  void end_generation(const Block& block, unsigned barrier);

  void arrive(const Cluster& cluster, WarpClock& warp, bool relaxed);
  void end_generation(const Cluster& cluster);
  void leave(const Cluster& cluster, WarpClock& warp);

  // An mbarrier: its agent writes what copies bring, one step per phase.
  Agent agent_of_mbarrier(const Block& home, std::uint32_t offset);
  void arrive_mbarrier(const Block& home, std::uint32_t offset, WarpClock& warp, bool releases);
  void copies_arrive(const Block& home, std::uint32_t offset, const CopyGroups& copies);
  void end_phase(const Block& home, std::uint32_t offset, std::uint64_t phase);
  void leave_mbarrier(const Block& home, std::uint32_t offset, WarpClock& warp);

 private:
  struct Word {                          // that releases and acquires meet at
    Clock device, block;
    const Block* owner = nullptr;        // of `block`
  };
  struct Meeting {
    Clock arriving, left, last_joined;
  };
  struct Phase {
    Agent agent = 0;
    Clock arriving, completed;
  };
  void publish(WarpClock& warp, Clock& into);
  void join_pending(WarpClock& warp);
  bool has_pending(const WarpClock& warp, Agent agent, std::uint32_t step) const;
  Phase& phase_of(const Block& home, std::uint32_t offset);

  std::uint32_t warps_per_block_;
  Agent agents_;
  std::vector<WarpClock> warps_;
  std::unordered_map<std::uint64_t, Word> words_;
  std::map<std::pair<const Block*, unsigned>, Meeting> meetings_;
  std::map<const Cluster*, Meeting> cluster_meetings_;
  std::map<std::pair<const Block*, std::uint32_t>, Phase> phases_;
};

}  // namespace onelaunch::emu
