#pragma once
// What a profile says of a kernel: where its time goes, phase by phase and block by block; what its marks found wrong; and
// what its machine code is made of. docs/profile.md explains the words.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/protocol/candidate.h"
#include "sandbox/protocol/outcome.h"

namespace onelaunch::sandbox {

struct ProfileRequest {
  std::string source;
  TunableValues tunables;                // defaults for those not named
  std::optional<std::int64_t> context;   // cached tokens; the first of the sweep when absent
  std::optional<std::uint64_t> seed;     // of states and tokens; drawn from the OS when absent
  int launches = 20;                     // that are looked at; emu: at most 2, since it runs the same every time
  bool sass = true;                      // disassemble, where there is a tool for it
};

// Of a quantity over blocks, or over launches. Microseconds.
struct Spread {
  double low = 0, median = 0, high = 0;
};

// What all marks of one name cover in a token.
struct ProfiledPhase {
  std::string name;
  int passes = 0;                        // marks of it that a block passes; the most of any block
  int blocks = 0;                        // that pass any
  Spread us;                             // over those blocks, all passes together, waits among them
  Spread wait_us;                        // of that, waiting for other blocks
  double share = 0;                      // of the time of all blocks, 0 to 1
  double critical_us = 0;                // its part of the critical path
  std::vector<int> stragglers;           // blocks that work a tenth longer than the median, the slowest first; at most 4
  std::optional<double> floor_mb;        // what its ops must move, when its name says which ops they are
  std::optional<double> dram_mb;         // emu: what came from memory or went there
};

// Between two waits of the whole grid, as the emulator counts them.
struct ModelledPhase {
  std::string bound, within;             // within: the phase that is marked at its middle
  double us = 0, dram_mb = 0;
  std::uint64_t warp_instructions = 0;
};

struct ProbeResult {
  std::string name, dtype;
  std::uint64_t elements = 0, copied = 0;
  bool ok = false;
  double rel_l2 = 0;                     // of the elements that were copied: |got - want| / |want|
  std::uint64_t worst = 0;               // index of the element that is furthest off
  double got = 0, want = 0, tolerance = 0;  // of that element; tolerance: that |got - want| may have
  std::string detail;                    // one sentence
};

// Instructions of one kernel's machine code.
struct SassReport {
  std::string tool;                      // "nvdisasm", "cuobjdump"
  std::string problem;                   // not empty: there is no report, and why
  std::uint64_t instructions = 0;
  std::map<std::string, std::uint64_t> classes;   // "LDG" -> 212, all of them
  std::map<std::string, std::uint64_t> pipes;     // "memory" -> 240
  struct Loop {
    std::string place;                   // "0x1a40..0x2f10"
    std::uint64_t instructions = 0;      // in its body, loops inside it left out
    int depth = 1;                       // 1: in no other loop
    std::map<std::string, std::uint64_t> classes, pipes;
  };
  std::vector<Loop> loops;               // the largest bodies of the innermost loops, at most 4
};

struct KernelResources {
  int registers = 0;
  std::uint64_t spill_bytes = 0, local_bytes = 0, static_smem_bytes = 0, dynamic_smem_bytes = 0;
  std::uint64_t block = 0, grid = 0;
  std::uint64_t blocks_per_sm = 0;       // that fit
  std::string bound;                     // what more of them would need
  double occupancy = 0;                  // resident threads of those an SM can hold, as launched
};

struct KernelProfile {
  Outcome outcome;                       // Passed, or why there is nothing to see
  std::string log;                       // the compiler's
  std::string source_sha256;
  TunableValues tunables;
  KernelResources resources;             // of the timed build
  SassReport sass;
  bool modelled = true;
  std::int64_t context = 0;
  std::uint64_t seed = 0;
  int launches = 0;                      // that the times are of
  std::string wrong;                     // not empty: the results were wrong, and where
  Spread launch_us;                      // of the marked build over launches: the device's time, or the emulator's model
  Spread unmarked_us;                    // the same of the build without marks, after it; 0: not run (emu, large tasks)
  double token_us = 0;                   // from the first stamp of any block to the last
  std::vector<ProfiledPhase> phases;     // in the order of their first marks
  Spread wait_us;                        // waiting for other blocks in a token, over blocks
  int barriers = 0;                      // grid-wide waits that every block stamped
  double critical_us = 0;                // the slowest block from one of those waits to the next, summed
  double barrier_us = 0;                 // from the last arrival to the release, summed
  double floor_mb = 0, floor_us = 0;     // the least that a token moves, and at the best measured stream; 0: not known
  std::vector<ModelledPhase> modelled_phases;  // emu only
  std::vector<std::string> notes;        // what the numbers do not say
  std::vector<ProbeResult> probes;       // of OL_PROBE marks, in the order of their names
};

}  // namespace onelaunch::sandbox
