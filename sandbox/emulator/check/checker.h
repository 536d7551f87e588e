#pragma once
// The detectors of one launch. They stand between the run loop and the operations that touch memory or order it, by
// taking the place of their functions; a launch without them runs as if they did not exist.

#include <cstdint>
#include <vector>

#include "sandbox/emulator/check/facts.h"
#include "sandbox/emulator/check/order.h"
#include "sandbox/emulator/check/races.h"
#include "sandbox/emulator/check/regions.h"
#include "sandbox/emulator/device.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

class Checker {
 public:
  Checker(Grid& grid, const Checks& checks, std::vector<OpFacts> facts, std::vector<DecodedOp> originals);

  // Copies of the program's operations whose functions call run() of the grid's checker.
  static std::vector<OpFacts> facts_of_all(const Program& program);
  static void replace(Program& program, const std::vector<OpFacts>& facts);

  void run(Warp& warp, const DecodedOp& op, std::uint32_t mask);

  void barrier_arrived(const Warp& warp, unsigned barrier);
  void barrier_left(const Warp& warp, unsigned barrier);
  void barrier_ended(const Block& block, unsigned barrier) { order_.end_generation(block, barrier); }
  void cluster_arrived(const Warp& warp, bool relaxed) { order_.arrive(*warp_cluster(warp), order_.of(warp), relaxed); }
  void cluster_ended(const Cluster& cluster) { order_.end_generation(cluster); }
  void cluster_left(const Warp& warp) { order_.leave(*warp_cluster(warp), order_.of(warp)); }
  void phase_ended(const Block& home, std::uint32_t offset, std::uint64_t phase) { order_.end_phase(home, offset, phase); }

 private:
  struct Lane {
    unsigned lane;
    Target target;
    std::byte before[32];
  };
  static const Cluster* warp_cluster(const Warp& warp);
  void original(Warp& warp, const DecodedOp& op, std::uint32_t mask);
  void collect(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void load(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void store(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void change(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void arrive(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void wait(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void copy_small(Warp& warp, const DecodedOp& op, std::uint32_t mask);
  void copy_bulk(Warp& warp, const DecodedOp& op, unsigned lane);
  void store_async(Warp& warp, const DecodedOp& op, std::uint32_t mask);
  void end_groups(Warp& warp, const DecodedOp& op, std::uint32_t mask, const OpFacts& facts);
  void ensure(CopyGroups& groups, Agent issuer);
  AccessMark copy_mark(const Warp& warp, const DecodedOp& op, Agent agent, std::uint32_t step, unsigned lane, AccessMark::Kind kind);
  AccessMark barrier_mark(Warp& warp, const DecodedOp& op, std::uint64_t address, unsigned lane);
  // `changes`: a write that depends on the old value. `incoherent`: a read past it.
  void touch(Warp& warp, const Target& target, const AccessMark& access, bool changes = false, bool incoherent = false);
  void read_of_undefined(const Target& target, const AccessMark& access, std::size_t first);

  Grid& grid_;
  const Checks checks_;
  const std::vector<OpFacts> facts_;
  const std::vector<DecodedOp> originals_;
  Order order_;
  Regions regions_;
  Races races_;
  std::vector<Lane> lanes_;          // of the operation that runs
  std::uint64_t sequence_ = 1;
};

}  // namespace onelaunch::emu
