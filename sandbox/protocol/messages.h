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

// ---- role "candidate": answers Setup, then any number of RunJobs ----

// Limits of the device that candidates are checked against.
struct DeviceFacts {
  std::string problem;                  // not empty: no such device
  std::string name, target;
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

struct SetupJob {
  std::string target, ptx;
  std::vector<BufferSpec> buffers;
};

struct SetupReply {
  std::string problem;                  // ours: out of memory, ...
  std::string refusal;                  // the module's: an instruction that the device does not implement
  std::vector<std::string> entries;
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
// Where the address of a buffer goes in the parameters.
struct Relocation {
  std::uint64_t offset = 0;
  std::string buffer;
};

struct LaunchOrder {
  std::string entry;
  std::uint64_t grid = 1, block = 1, dynamic_smem = 0;
  int registers = 0;
  bool cooperative = true;
  std::string parameters;
  std::vector<Relocation> relocations;
  std::uint64_t schedule_seed = 0, instructions_max = 0;
  double seconds_max = 0;
};

// Writes and fills, then launches, then reads; stops at the first launch that faults.
struct RunJob {
  std::vector<BufferFill> fills;
  std::vector<BufferWrite> writes;
  std::vector<LaunchOrder> launches;
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
  std::vector<LaunchResult> launches;
  std::vector<std::string> reads;       // empty after a fault
};

std::string encode(const CompilerHello& message);
std::string encode(const CompileJob& message);
std::string encode(const CompileReply& message);
std::string encode(const DeviceFacts& message);
std::string encode(const SetupJob& message);
std::string encode(const SetupReply& message);
std::string encode(const RunJob& message);
std::string encode(const RunReply& message);

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

}  // namespace onelaunch::sandbox
