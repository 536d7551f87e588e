#pragma once
// The port through which a session reaches a device. Implemented by host/emulated_sandbox and host/cuda_sandbox
// on onelaunch-worker processes; faked in tests.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/profile.h"
#include "sandbox/protocol/candidate.h"
#include "sandbox/protocol/outcome.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct CompileRequest {
  std::string source;
  TunableValues tunables;              // defaults for those not named; unknown names are a Refused
};

struct Resources {
  int registers = 0;                   // per thread
  std::uint64_t static_smem_bytes = 0, local_bytes = 0, spill_bytes = 0;
};

// A candidate that compiled and passed the static gate, or the reason why not.
struct Compiled {
  Outcome outcome;                     // Passed, CompileFailed, Refused or TimedOut
  std::string log;                     // NVRTC's, with the candidate's own line numbers
  std::string ptx, cubin;
  std::string source_sha256, ptx_sha256, cubin_sha256;
  Resources resources;
  LaunchDeclaration launch;
  std::vector<PrepareDeclaration> prepares;
  TunableValues tunables;              // all of them, defaults filled in
  double seconds = 0;
  bool cached = false;
};

enum class Check { quick, full };      // quick: the first context, fewest steps. full: all contexts of the sweep

struct GradeRequest {
  Check check = Check::full;
  std::vector<std::int64_t> contexts;  // empty: those of the task's sweep
  std::optional<std::uint64_t> seed;   // of states and tokens; drawn from the OS when absent
  int schedules = 1;                   // emu: how many seeded block schedules are run
  bool detect = false;                 // emu: look for races and undefined reads; a full check of small tasks does anyway
  // cuda: timing ends early when a quick look at the first context, or the score, is above these, us per token.
  struct StopAbove {
    double first_us = 0, score_us = 0;
  };
  std::optional<StopAbove> stop_above;
  bool all_times = true;               // cuda: count launches and time single-set and cold tokens too
  // cuda: once the candidate is known to be right, time it in the same worker interleaved (ABBA) with this one.
  const Compiled* against = nullptr;
  double pair_s = 1;                   // for all pairs of all contexts together
};

// One test of the correctness gate.
struct GateResult {
  std::string stage;                   // "static", "prepare", "correctness"
  bool passed = false;
  std::string test, tensor;            // "rel_l2", "y"
  std::uint64_t index = 0;
  double got = 0, want = 0, tolerance = 0;
  std::int64_t context = 0;
  int step = 0;
  std::uint64_t seed = 0;
  std::string detail;
};

struct PhaseTime {                     // modelled
  std::string name, bound;
  double us = 0, dram_mb = 0;
  std::uint64_t warp_instructions = 0;
};

// What the clock of a token says beside its primary time: medians, us per token.
struct DeviceTimes {
  double token_loop_us = 0;            // one weight set, no rotation: what public boards time
  double wall_us = 0, enqueue_us = 0;  // host clock, back to back
  double cold_us = 0;                  // nothing in L2 before the token
  double strict_over_nominal = 0;      // ratio of the primary times on the two input sets
  double launches = 0;                 // kernels per token, counted on the device (CUPTI)
  std::uint32_t sm_mhz_low = 0, sm_mhz_high = 0, memory_mhz = 0, power_w_high = 0, temperature_c_high = 0;
  std::uint64_t throttle_reasons = 0;  // NVML's bits, of all samples together
};

struct Measurement {
  bool modelled = true;                // emu: a model's answer. Never mixed with measured ones
  std::int64_t context = 0;
  double us_median = 0, us_low = 0, us_high = 0;
  int n = 0;
  std::vector<double> raw_us;
  std::vector<PhaseTime> phases;
  std::uint64_t warp_instructions = 0, barriers = 0;
  double dram_mb = 0, host_seconds = 0;  // a token; host: what the emulator took on this machine
  std::optional<DeviceTimes> device;     // measured only
};

// The two kernels of a pair ran next to each other in one worker, the order within pairs alternating (ABBA), on inputs
// that are nominal and strict in turn.
struct PairedTimes {
  std::int64_t context = 0;
  std::vector<double> candidate_us, against_us;  // per token, i-th with i-th
};

struct Grade {
  Outcome outcome;
  std::vector<GateResult> gates;       // failures, and the closest passes
  std::vector<Measurement> times;      // one per context; empty unless passed
  std::vector<PairedTimes> pairs;      // one per context, when asked for and passed
  // Right and timed, but too fast to be true: the session keeps it out until it is explained.
  std::string quarantine;              // why; empty: not quarantined
  std::string printed;                 // the kernel's printf output, capped
  double gate_s = 0, measure_s = 0;
};
// Geometric mean of the contexts' medians, us per token; the number that decisions compare.
double score_us(const std::vector<Measurement>& times);

struct DeviceInfo {
  std::string kind;                    // "emu", "cuda"
  std::string name;                    // "H200 (emulated)"
  std::string target;                  // "sm_90a"
  std::string uuid, driver_version;    // of a GPU; empty on emu
  std::vector<std::string> warnings;   // what makes its times less trustworthy
  int sms = 0;
  // The best measured stream from memory, for the floor, and the cheapest barrier and launch: the profile's on emu.
  double stream_tb_s = 0, grid_barrier_us = 0, launch_us = 0;
  std::string containment;             // how the compiler is confined: "landlock", "namespace", "weak"
  std::string nvrtc_version;
};

struct BaselineResult {
  std::string name;                    // "torch", "torch-graph", "torch-compile", "eager", "graph"
  std::vector<Measurement> times;
  std::vector<GateResult> gates;       // the baseline is checked against the oracle too
  int launches = 0;                    // per token
};

class Sandbox {
 public:
  virtual ~Sandbox() = default;
  virtual const DeviceInfo& device() const = 0;
  // Names that baseline() knows on this device, the most telling last.
  virtual std::vector<std::string> baselines() const = 0;

  // May run in one thread while grade() runs in another.
  virtual Result<Compiled> compile(const CompileRequest& request, Deadline deadline) = 0;
  // Correctness first, then time. What the candidate did wrong is the grade's outcome.
  virtual Result<Grade> grade(const Compiled& candidate, const GradeRequest& request, Deadline deadline) = 0;
  // Where a kernel's time goes, by its OL_PHASE marks; what its OL_PROBE marks find; its machine code (profile.h).
  virtual Result<KernelProfile> profile(const ProfileRequest& request, Deadline deadline) = 0;
  virtual Result<BaselineResult> baseline(const std::string& name, Deadline deadline) = 0;
  // New weights from this seed (the closing re-grade); later grades use them.
  virtual Result<void> use_weights(std::uint64_t seed) = 0;
  // From any thread: what is running now ends soon with an Error (unavailable). Later calls work again.
  virtual void interrupt() = 0;
};

}  // namespace onelaunch::sandbox
