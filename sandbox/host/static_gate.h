#pragma once
// What can be told of a candidate before it runs: its declarations against the device's limits, and what its compiled
// code may not contain.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/host/sandbox.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {

struct GateLimits {
  std::uint64_t sync_bytes = 1 << 20;
  std::uint64_t scratch_bytes = std::uint64_t{1} << 30;
  std::uint64_t prepared_bytes = 64 << 20;
  std::uint64_t args_bytes = 0, prepare_args_bytes = 0;  // sizes of ol::Args and ol::PrepareArgs; 0: not checked
  bool marked = false;  // a profile or probe build: what its header brings is allowed, and reading the clock
};
// Prepared data may be twice the weights, or 64 MiB.
GateLimits gate_limits(std::uint64_t weight_bytes);

struct Declarations {
  LaunchDeclaration launch;
  std::vector<PrepareDeclaration> prepares;  // in file order
  Resources resources;                       // of the megakernel
};

// The declarations of a module that may run, or why it may not, with the numbers.
std::variant<Declarations, Refused> static_gate(const CompileReply& compiled, const DeviceFacts& device,
                                                const GateLimits& limits);

// Blocks of one SM that fit at once, by threads, registers and shared memory.
struct Residency {
  std::uint64_t blocks_per_sm = 0;
  std::string bound;                         // "shared memory (115 KiB a block)"
};
Residency residency(const DeviceFacts& device, std::uint64_t block, int registers, std::uint64_t smem_bytes);

// Blocks that a declared grid stands for.
std::uint64_t grid_blocks(std::uint64_t declared, const DeviceFacts& device);

}  // namespace onelaunch::sandbox
