#pragma once
// Measures a device's ceilings in a worker: reads of memory and L2, grid barriers, empty launches.

#include <string>
#include <vector>

#include "sandbox/host/ceilings.h"
#include "sandbox/host/device_session.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {

struct ReadMethod {
  std::string name, entry;
  unsigned block = 0, blocks_per_sm = 1, slots = 0;
  std::uint64_t dynamic_smem = 0;
  std::string skipped;                 // why this device does not run it; empty: it does
};

struct Footprint {
  std::uint64_t bytes = 0;             // what one launch reads, a multiple of 16 KiB
  std::uint32_t launches = 1;          // of a chain, each on the next part of the data
  std::uint32_t rounds = 1;            // of a launch over its part
  bool resident = false;
};

struct MicrobenchPlan {
  std::vector<ReadMethod> methods;
  std::vector<Footprint> footprints;
  int sms = 1;
  std::vector<int> barrier_blocks_per_sm = {1};
  std::uint32_t barriers = 200, launches = 200;  // of one chain
  int samples = 9, warm_up = 2;        // chains; the medians are of `samples`
  bool complete = true;
  std::uint64_t data_bytes() const;    // what the footprints need
};

// What fits this device. `complete`: all methods on 256 MB, 1 GB and up to 4 GB, each moving on through data many times
// as large as L2, and on half of L2; else (half a second) the two best methods on the largest.
MicrobenchPlan microbench_plan(const DeviceFacts& facts, bool complete);

struct MicrobenchModules {
  ModuleSpec microbench, harness;
};

// Replaces what the session has set up. All methods must have read the same sums. Fails (internal) when they have not,
// (unavailable) when a kernel did not end well.
Result<Ceilings> run_microbench(DeviceSession& session, const MicrobenchModules& modules, const DeviceFacts& facts,
                                const MicrobenchPlan& plan, const Clock& clock, Deadline deadline);

}  // namespace onelaunch::sandbox
