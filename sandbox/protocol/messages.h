#pragma once
// What host and worker say to each other, each as the body of one frame (little endian, strings and lists with their
// lengths; both sides come from one build). Every decode_*() checks what it reads: a worker is not trusted.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::sandbox {

// ---- role "compile": says hello once, then answers one CompileJob after the other ----

struct CompilerHello {
  std::string problem;                  // not empty: cannot compile, and why
  std::string nvrtc_version;            // "13.0"
  std::string containment;              // "landlock", "namespace", "weak"
};

struct CompileLimits {
  double wall_s = 60;
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::uint64_t log_bytes = 32 << 10;
};

struct CompileJob {
  std::string source, header;           // header: <onelaunch.cuh>
  std::vector<std::string> options;     // target, language and -D options; include paths are the worker's
  CompileLimits limits;
};

struct EntryResources {
  std::string entry;
  int registers = 0;                    // per thread
  std::uint64_t static_smem_bytes = 0, local_bytes = 0, spill_bytes = 0;
};

struct CompileReply {
  enum class Status { compiled, failed, timed_out, out_of_memory, crashed, unavailable };
  Status status = Status::unavailable;
  std::string log, ptx, cubin;
  std::string how;                      // crashed, unavailable: what happened
  std::vector<EntryResources> entries;
  double seconds = 0;
};

// ---- roles "emu" and "cuda": answer Setup, then any number of jobs ----

// Limits of the device that candidates are checked against, read from the card by "cuda".
struct DeviceFacts {
  std::string problem;                  // not empty: no such device, and why
  std::string name, target;
  std::string uuid, driver_version;     // "GPU-8f6f...", "580.159.04"; empty on emu
  std::vector<std::string> warnings;    // other processes on the card, a slow clock, persistence off
  std::uint64_t memory_bytes = 0, memory_free_bytes = 0, l2_bytes = 0;  // 0 on emu
  int sms = 0, threads_per_sm = 0, threads_per_block = 0, blocks_per_sm = 0;
  int registers_per_sm = 0, registers_per_thread = 0;
  std::uint64_t shared_per_sm = 0, shared_per_block = 0, shared_reserved_per_block = 0;
  double stream_tb_s = 0, grid_barrier_us = 0, launch_us = 0;
};

struct BufferSpec {
  std::string name;                     // "weights kda.0.q.packed"
  std::uint64_t bytes = 0;
  bool weights = false;                 // a read-only part of the descriptor sent along, from `offset` on
  std::uint64_t offset = 0;
};

// What was compiled, under the name that launches know it by. emu loads the PTX, cuda the cubin.
struct ModuleSpec {
  std::string name, ptx, cubin;
};

// Replaces all modules and buffers. On cuda each buffer lies right-aligned (256 B) before an unmapped guard.
struct SetupJob {
  std::string target;
  std::vector<ModuleSpec> modules;
  std::vector<BufferSpec> buffers;
};

struct SetupReply {
  std::string problem;                  // ours: out of memory, ...
  std::string refusal;                  // the module's: an instruction that the device does not implement
  std::vector<std::string> entries;     // of the first module
};

struct BufferWrite {
  std::string buffer;
  std::uint64_t offset = 0;
  std::string bytes;
};
// The whole buffer: zeros, or poison (poison.h).
struct BufferFill {
  std::string buffer;
  bool poison = false;
  std::uint64_t seed = 0;
};
struct BufferRead {
  std::string buffer;
  std::uint64_t offset = 0, bytes = 0;
  bool digest = false;                  // SHA-256 in hex instead of the bytes
};
struct BufferCopy {
  std::string from;
  std::uint64_t from_offset = 0;
  std::string to;
  std::uint64_t to_offset = 0, bytes = 0;
};
// Where the address of a buffer (plus `addend` bytes) goes in the parameters.
struct Relocation {
  std::uint64_t offset = 0;
  std::string buffer;
  std::uint64_t addend = 0;
};

struct LaunchOrder {
  std::string module, entry;
  std::uint64_t grid = 1, block = 1, dynamic_smem = 0, cluster = 1;
  int registers = 0;
  bool cooperative = true;
  bool detect = false;                  // emu: data races and reads of what nobody wrote are faults; many times slower
  std::string parameters;
  std::vector<Relocation> relocations;
  std::uint64_t schedule_seed = 0, instructions_max = 0;
  double seconds_max = 0;
};

// Some of the launches that a worker keeps.
struct KeptLaunches {
  std::uint64_t first = 0, count = 0;
};

// Whether there are such among `kept`.
constexpr bool is_part(const KeptLaunches& part, std::uint64_t kept) {
  return part.first <= kept && part.count <= kept - part.first;
}

// Fills, writes, copies, launches, seals, reads, in this order; stops at the first launch that faults.
struct RunJob {
  std::vector<BufferFill> fills;
  std::vector<BufferWrite> writes;
  std::vector<BufferCopy> copies;
  std::vector<LaunchOrder> keep;        // made ready, and kept until other ones are; not empty: replaces what was kept
  KeptLaunches again;                   // of those, after `launches`
  std::vector<LaunchOrder> launches;
  std::vector<std::string> seals;       // buffers that nothing may write from now on
  std::vector<BufferRead> reads;
};

struct LaunchFault {
  std::string kind, message;            // "out_of_bounds"
};
struct LaunchPhase {
  std::string bound;
  double us = 0;
  std::uint64_t dram_bytes = 0, warp_instructions = 0;
};
struct LaunchResult {
  std::vector<LaunchFault> faults;
  std::vector<LaunchPhase> phases;
  LaunchPhase total;
  std::string printed;
  bool printed_truncated = false;
  double host_seconds = 0;
};
struct RunReply {
  std::string problem;                  // ours
  std::vector<LaunchResult> launches;   // and of those that were kept, in this order
  std::vector<std::string> reads;       // empty after a fault
};

// ---- role "cuda" only: timing ----

// Launches back to back between two events, behind a gate that opens when all are enqueued. Fills, writes and copies
// come before each run of the chain, reads after it; none of them is timed.
struct TimedChain {
  std::vector<BufferFill> fills;
  std::vector<BufferWrite> writes;
  std::vector<BufferCopy> copies;
  std::vector<LaunchOrder> launches;    // at most 500
  std::vector<BufferRead> reads;
};

struct TimeJob {
  std::vector<TimedChain> chains;
  std::vector<std::uint32_t> order;     // which chain runs when, by index
  bool cold = false;                    // before each run nothing of the buffers is left in L2
  bool graph = false;                   // each chain, of no cooperative launches, is captured into a CUDA graph and replayed
  double seconds_max = 0;               // then stops between two runs, with the samples so far
};

struct ClockState {                     // 0 where NVML does not say
  std::uint32_t sm_mhz = 0, memory_mhz = 0, power_mw = 0, temperature_c = 0;
  std::uint64_t throttle_reasons = 0;   // NVML's bits, as they stood after the chain
};

struct ChainSample {
  std::uint32_t chain = 0;
  double device_us = 0;                 // between the events
  double wall_us = 0;                   // host clock, from opening the gate to the end being seen
  double enqueue_us = 0;                // host clock, for all launch calls
  ClockState clocks;
  std::vector<std::string> reads;
};

struct TimeReply {
  std::string problem;                  // ours
  std::vector<LaunchFault> faults;      // the candidate's, of the last run in `order` that was begun
  std::vector<ChainSample> samples;
};

// Runs one chain under CUPTI's activity records.
struct CountJob {
  TimedChain chain;
};

struct CountReply {
  std::string problem;                  // ours: CUPTI missing or without records
  std::vector<LaunchFault> faults;
  std::uint32_t kernels = 0, graphs = 0, memcpys = 0, memsets = 0;  // on the device while the launches ran
  std::vector<std::string> names;       // of the kernels, each once
  std::vector<double> kernel_us;        // each kernel's duration
};

std::string encode(const CompilerHello& message);
std::string encode(const CompileJob& message);
std::string encode(const CompileReply& message);
std::string encode(const DeviceFacts& message);
std::string encode(const SetupJob& message);
std::string encode(const SetupReply& message);
std::string encode(const RunJob& message);
std::string encode(const RunReply& message);
std::string encode(const TimeJob& message);
std::string encode(const TimeReply& message);
std::string encode(const CountJob& message);
std::string encode(const CountReply& message);

// "compile", "setup", "run", "device", ...; empty when the body is no message.
std::string kind_of_message(const std::string& body);

// Fail (invalid_input) on anything that is not exactly such a message.
Result<CompilerHello> decode_compiler_hello(const std::string& body);
Result<CompileJob> decode_compile_job(const std::string& body);
Result<CompileReply> decode_compile_reply(const std::string& body);
Result<DeviceFacts> decode_device_facts(const std::string& body);
Result<SetupJob> decode_setup_job(const std::string& body);
Result<SetupReply> decode_setup_reply(const std::string& body);
Result<RunJob> decode_run_job(const std::string& body);
Result<RunReply> decode_run_reply(const std::string& body);
Result<TimeJob> decode_time_job(const std::string& body);
Result<TimeReply> decode_time_reply(const std::string& body);
Result<CountJob> decode_count_job(const std::string& body);
Result<CountReply> decode_count_reply(const std::string& body);

}  // namespace onelaunch::sandbox
