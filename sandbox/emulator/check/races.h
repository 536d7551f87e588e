#pragma once
// The rules of a data race: two accesses to one word by different warps, one of them a write and not both strong, that
// nothing orders.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sandbox/emulator/check/order.h"
#include "sandbox/emulator/check/regions.h"

namespace onelaunch::emu {

class Races {
 public:
  Races(Grid& grid, const Order& order, const Regions& regions) : grid_(grid), order_(order), regions_(regions) {}

  // `me` is the warp's clock, also where `access` is that of a copy that it issued.
  void note(const Target& target, const AccessMark& access, const WarpClock& me, std::uint64_t sequence, bool incoherent);
  void name_agent(Agent copies, Agent issuer) { issuers_[copies] = issuer; }
  // "ld.global.u32 at kernel.cu:9 in thread 37 of block 2"
  std::string who(const AccessMark& access) const;

 private:
  struct Look {
    const Target& target;
    const AccessMark& access;
    const WarpClock& me;
    std::size_t offset;
  };
  void check(const Cell& cell, const Look& look);
  void check_proxy(const Cell& cell, const Look& look);
  void record(Cell& cell, const Look& look, std::uint64_t sequence);
  void conflict(const AccessMark& earlier, const Look& look);
  bool is_new(const Look& look);       // nothing has been said of this place yet
  void complain(const Look& look, const AccessMark& earlier, const std::string& what);

  Grid& grid_;
  const Order& order_;
  const Regions& regions_;
  std::unordered_map<Agent, Agent> issuers_;  // of agents that copy
};

}  // namespace onelaunch::emu
