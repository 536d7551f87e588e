#pragma once
// The `emu` device: runs the PTX that NVRTC emitted on the CPU. Deterministic, one thread per launch.
// Its times are modelled (model/), never measured.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/model/profile.h"

namespace onelaunch::emu {

struct Memory;        // memory/: arena and allocations
struct LoadedModule;  // parsed module, its variables' addresses, decoded entries

struct LaunchShape {
  unsigned grid = 1, block = 1;          // blocks, threads per block (1-D)
  std::uint64_t dynamic_shared_bytes = 0;
  int registers_per_thread = 0;          // for residency; 0: not known, no limit by registers
  unsigned cluster = 1;                  // blocks per cluster; a kernel that declares its own gets that
};

// Detectors. A launch without them pays nothing. With `races` it takes about 10 to 15 times as long, and 12 times the
// memory of what it touches and may change; with `undefined` 3 to 6 times as long. What is found does not depend on luck
// with the schedule: two accesses race when no synchronisation orders them, even if they came in the right order. Lanes
// of one warp are taken to run in order; undefined bytes are reported when they are loaded, whatever becomes of them.
struct Checks {
  bool races = false;                    // accesses that no barrier, fence, release and acquire or completed wait orders
  bool undefined = false;                // reads of shared memory and of undefined allocations that nobody wrote
  bool any() const { return races || undefined; }
};

struct LaunchOptions {
  bool cooperative = true;               // all blocks must be resident at once
  std::uint64_t schedule_seed = 0;       // 0: round robin; else drawn quanta, queue order and lane order of atomics
  std::uint64_t instructions_max = 0;    // warp instructions; 0: no limit
  double seconds_max = 0;                // wall clock of the host; 0: no limit
  int errors_max = 32;
  Checks checks;
};

// What a kernel did wrong, by kind. `message` is complete: what, where in the source, which block, warp, lane.
struct Fault {
  enum class Kind {
    out_of_bounds, misaligned, read_only_write, wrong_space, trap, deadlock, no_progress, divergent_barrier, misuse,
    not_resident, instruction_limit, time_limit, data_race, uninitialised_read,
  };
  Kind kind;
  std::string message;
  std::string where;                     // "kernel.cu:212 (inlined at kernel.cu:540)"
};

// Work of one phase: the stretch between two grid-wide waits.
struct PhaseCounters {
  std::uint64_t warp_instructions = 0, classes[8] = {};   // by CostClass
  std::uint64_t dram_bytes_read = 0, dram_bytes_written = 0;  // 32-byte sectors touched for the first time since last used
  std::uint64_t l2_bytes = 0;            // all sectors of all global accesses
  std::uint64_t shared_wavefronts = 0, atomics = 0;
  double us = 0;                         // modelled
  std::string bound;                     // what binds: "dram", "issue", "alu", "shared", "latency", "barrier"
};

struct LaunchReport {
  std::vector<Fault> faults;             // empty: the kernel ran to its end
  std::vector<PhaseCounters> phases;
  PhaseCounters total;                   // us includes the launch and the barriers
  std::string printed;                   // printf output, capped
  bool printed_truncated = false;
  double host_seconds = 0;
};

struct AllocationSpec {
  std::string name;                      // for reports: "weights kda.0.q.packed"
  std::size_t bytes = 0;
  bool read_only = false;
  bool undefined = false;                // holds nothing until a kernel writes it: scratch, outputs (see Checks)
};

class Device {
 public:
  explicit Device(DeviceProfile profile);
  ~Device();
  const DeviceProfile& profile() const;

  // Device addresses are host addresses in a reserved range: the same in every run. Accesses are checked to the byte.
  Result<std::uint64_t> allocate(const AllocationSpec& spec);                              // zero filled
  Result<std::uint64_t> map(const AllocationSpec& spec, int fd, std::uint64_t offset);     // shared, read-only; page-aligned offset
  void free(std::uint64_t address);
  // For Checks::undefined: from now on every byte, or no byte, of this allocation counts as written. Only launches that
  // check take note of what kernels write.
  void set_defined(std::uint64_t address, bool defined);
  std::span<std::byte> bytes(std::uint64_t address);       // of an allocation's start, to its exact end

  // Parses and decodes every entry lazily. Fails (invalid_input) naming what is not implemented, with its line.
  Result<std::shared_ptr<LoadedModule>> load(std::string ptx);
  // Initial bytes of a .const or .global variable; nothing when the module has none of that name.
  std::optional<std::vector<std::byte>> initial_bytes(const LoadedModule& module, const std::string& variable) const;
  std::vector<std::string> entries(const LoadedModule& module) const;

  // Blocks of this kernel that are resident on the whole device at once (threads, shared memory, registers given).
  int resident_blocks(const LaunchShape& shape, int registers_per_thread, std::size_t static_shared_bytes) const;

  // Fails only for our own reasons; what the kernel did is in the report. `params` is the parameter buffer.
  Result<LaunchReport> launch(LoadedModule& module, const std::string& entry, const LaunchShape& shape,
                              std::span<const std::byte> params, const LaunchOptions& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onelaunch::emu
