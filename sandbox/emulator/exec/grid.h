#pragma once
// One launch while it runs: what all its blocks share.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sandbox/emulator/async/flights.h"
#include "sandbox/emulator/device.h"
#include "sandbox/emulator/exec/faults.h"
#include "sandbox/emulator/exec/polls.h"
#include "sandbox/emulator/memory/arena.h"
#include "sandbox/emulator/model/counters.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

class Checker;                           // check/checker.h
struct Block;                            // exec/block.h

constexpr std::uint32_t kPhasesMax = 4096;

// What an operation remembers between its executions: the bounds that its addresses last lay in.
struct OpCache {
  std::uint64_t begin = 1, end = 0;
  Allocation* allocation = nullptr;
  std::uint32_t rounds = 0;              // 1: the first load of a round of loads that wait for one another (model)
};

struct Grid {
  Grid(const Program& program_in, Memory& memory_in, int errors_max)
      : program(program_in), memory(memory_in), faults(program_in, errors_max), caches(program_in.ops.size()) {}

  const Program& program;
  Memory& memory;
  LaunchShape shape;
  std::span<const std::byte> params;
  const std::byte* constants = nullptr;  // the program's constant rows, 64-byte aligned
  std::uint64_t workspace = 0;           // of cooperative groups, read through %envreg1 and 2
  int sms = 1;
  std::size_t l1_bytes = 0;              // of an SM, shared memory included
  std::uint64_t schedule_seed = 0;
  std::uint64_t random_state = 0;

  FaultLog faults;
  WatchTable watches;
  Flights flights;                       // copies under way
  Checker* checker = nullptr;            // null: no detectors
  Stamps stamps;
  std::vector<OpCache> caches;           // by operation
  L2Clock l2{1};
  ChainCosts chain;
  std::uint64_t instructions = 0;        // warp instructions so far
  std::uint64_t skipped_ns = 0;          // virtual time that passed while nothing could run
  std::uint64_t timer_reads = 0;
  const DeviceProfile* profile = nullptr;                        // of the modelled clock; null: it stands still
  const std::vector<std::unique_ptr<Block>>* blocks = nullptr;   // those started so far
  int resident = 1;                      // blocks at once on the whole device
  std::vector<double> phase_starts_us;   // as far as they were asked for (exec/clock.h)
  std::string printed;
  bool printed_truncated = false;

  OpCache& cache(const DecodedOp& op) { return caches[static_cast<std::size_t>(&op - program.ops.data())]; }
  std::uint64_t random() {               // splitmix64
    std::uint64_t z = random_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
};

}  // namespace onelaunch::emu
