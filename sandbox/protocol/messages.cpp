#include "sandbox/protocol/messages.h"

#include <cstring>
#include <string_view>
#include <type_traits>

namespace onelaunch::sandbox {
namespace {

// fields(archive, message) lists a message's fields once; Writer and Reader go through the same list.
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, CompilerHello>
void fields(A& a, M& m) { a(m.problem), a(m.nvrtc_version), a(m.containment); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, CompileLimits>
void fields(A& a, M& m) { a(m.wall_s), a(m.memory_bytes), a(m.log_bytes); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, CompileJob>
void fields(A& a, M& m) { a(m.source), a(m.header), a(m.options), a(m.limits); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, EntryResources>
void fields(A& a, M& m) {
  a(m.entry), a(m.registers), a(m.static_smem_bytes), a(m.local_bytes), a(m.spill_bytes);
}
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, CompileReply>
void fields(A& a, M& m) { a(m.status), a(m.log), a(m.ptx), a(m.cubin), a(m.how), a(m.entries), a(m.seconds); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, DeviceFacts>
void fields(A& a, M& m) {
  a(m.problem), a(m.name), a(m.target), a(m.uuid), a(m.driver_version), a(m.warnings), a(m.memory_bytes);
  a(m.memory_free_bytes), a(m.l2_bytes), a(m.sms), a(m.threads_per_sm), a(m.threads_per_block), a(m.blocks_per_sm);
  a(m.registers_per_sm), a(m.registers_per_thread), a(m.shared_per_sm), a(m.shared_per_block);
  a(m.shared_reserved_per_block), a(m.stream_tb_s), a(m.grid_barrier_us), a(m.launch_us);
}
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, BufferSpec>
void fields(A& a, M& m) { a(m.name), a(m.bytes), a(m.weights), a(m.offset); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, ModuleSpec>
void fields(A& a, M& m) { a(m.name), a(m.ptx), a(m.cubin); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, SetupJob>
void fields(A& a, M& m) { a(m.target), a(m.modules), a(m.buffers); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, SetupReply>
void fields(A& a, M& m) { a(m.problem), a(m.refusal), a(m.entries); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, BufferWrite>
void fields(A& a, M& m) { a(m.buffer), a(m.offset), a(m.bytes); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, BufferFill>
void fields(A& a, M& m) { a(m.buffer), a(m.poison), a(m.seed); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, BufferRead>
void fields(A& a, M& m) { a(m.buffer), a(m.offset), a(m.bytes), a(m.digest); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, Relocation>
void fields(A& a, M& m) { a(m.offset), a(m.buffer), a(m.addend); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, BufferCopy>
void fields(A& a, M& m) { a(m.from), a(m.from_offset), a(m.to), a(m.to_offset), a(m.bytes); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, LaunchOrder>
void fields(A& a, M& m) {
  a(m.module), a(m.entry), a(m.grid), a(m.block), a(m.dynamic_smem), a(m.cluster), a(m.registers), a(m.cooperative), a(m.detect), a(m.parameters);
  a(m.relocations), a(m.schedule_seed), a(m.instructions_max), a(m.seconds_max);
}
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, KeptLaunches>
void fields(A& a, M& m) { a(m.first), a(m.count); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, RunJob>
void fields(A& a, M& m) {
  a(m.fills), a(m.writes), a(m.copies), a(m.keep), a(m.again), a(m.launches), a(m.seals), a(m.reads);
}
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, LaunchFault>
void fields(A& a, M& m) { a(m.kind), a(m.message); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, LaunchPhase>
void fields(A& a, M& m) { a(m.bound), a(m.us), a(m.dram_bytes), a(m.warp_instructions); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, LaunchResult>
void fields(A& a, M& m) {
  a(m.faults), a(m.phases), a(m.total), a(m.printed), a(m.printed_truncated), a(m.host_seconds);
}
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, RunReply>
void fields(A& a, M& m) { a(m.problem), a(m.launches), a(m.reads); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, TimedChain>
void fields(A& a, M& m) { a(m.fills), a(m.writes), a(m.copies), a(m.launches), a(m.reads); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, TimeJob>
void fields(A& a, M& m) { a(m.chains), a(m.order), a(m.cold), a(m.graph), a(m.seconds_max); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, ClockState>
void fields(A& a, M& m) { a(m.sm_mhz), a(m.memory_mhz), a(m.power_mw), a(m.temperature_c), a(m.throttle_reasons); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, ChainSample>
void fields(A& a, M& m) { a(m.chain), a(m.device_us), a(m.wall_us), a(m.enqueue_us), a(m.clocks), a(m.reads); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, TimeReply>
void fields(A& a, M& m) { a(m.problem), a(m.faults), a(m.samples); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, CountJob>
void fields(A& a, M& m) { a(m.chain); }
template <class A, class M> requires std::is_same_v<std::remove_const_t<M>, CountReply>
void fields(A& a, M& m) {
  a(m.problem), a(m.faults), a(m.kernels), a(m.graphs), a(m.memcpys), a(m.memsets), a(m.names), a(m.kernel_us);
}

class Writer {
 public:
  explicit Writer(std::string_view kind) { (*this)(std::string(kind)); }

  void operator()(const std::string& text) {
    raw(std::uint64_t{text.size()});
    out_ += text;
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    raw(std::uint64_t{list.size()});
    for (const T& item : list) (*this)(item);
  }
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      raw(value);
    else
      fields(*this, value);
  }
  std::string take() { return std::move(out_); }

 private:
  template <class T>
  void raw(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view in) : left_(in) {}

  void operator()(std::string& text) {
    const std::size_t bytes = length();
    text.assign(left_.substr(0, bytes));
    left_.remove_prefix(bytes);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    // Every item takes at least a byte, so a length that passed is no larger than the message.
    const std::size_t items = length();
    list.clear();
    for (std::size_t i = 0; i < items && ok_; ++i) (*this)(list.emplace_back());
  }
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      unsigned char byte = 0;
      raw(byte);
      ok_ = ok_ && byte <= 1;
      value = byte == 1;
    } else if constexpr (std::is_same_v<T, CompileReply::Status>) {
      int number = 0;
      raw(number);
      ok_ = ok_ && number >= 0 && number <= static_cast<int>(CompileReply::Status::unavailable);
      value = static_cast<CompileReply::Status>(number);
    } else if constexpr (std::is_arithmetic_v<T>) {
      raw(value);
    } else {
      fields(*this, value);
    }
  }
  bool finished() const { return ok_ && left_.empty(); }

 private:
  std::size_t length() {
    std::uint64_t bytes = 0;
    raw(bytes);
    if (ok_ && bytes <= left_.size()) return static_cast<std::size_t>(bytes);
    ok_ = false;
    left_ = {};
    return 0;
  }
  template <class T>
  void raw(T& value) {
    if (!ok_ || left_.size() < sizeof value) {
      ok_ = false;
      left_ = {};
      return;
    }
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
  }
  std::string_view left_;
  bool ok_ = true;
};

template <class M>
std::string written(std::string_view kind, const M& message) {
  Writer writer(kind);
  writer(message);
  return writer.take();
}

template <class M>
Result<M> read(std::string_view kind, const std::string& body) {
  Reader reader(body);
  std::string found;
  reader(found);
  M message;
  if (found == kind) reader(message);
  if (found != kind || !reader.finished()) return invalid("not a well-formed message of kind " + std::string(kind));
  return message;
}

}  // namespace

std::string kind_of_message(const std::string& body) {
  std::string kind;
  Reader reader(body);
  reader(kind);
  return kind;
}

std::string encode(const CompilerHello& message) { return written("compiler", message); }
std::string encode(const CompileJob& message) { return written("compile", message); }
std::string encode(const CompileReply& message) { return written("compiled", message); }
std::string encode(const DeviceFacts& message) { return written("device", message); }
std::string encode(const SetupJob& message) { return written("setup", message); }
std::string encode(const SetupReply& message) { return written("ready", message); }
std::string encode(const RunJob& message) { return written("run", message); }
std::string encode(const RunReply& message) { return written("ran", message); }
std::string encode(const TimeJob& message) { return written("time", message); }
std::string encode(const TimeReply& message) { return written("timed", message); }
std::string encode(const CountJob& message) { return written("count", message); }
std::string encode(const CountReply& message) { return written("counted", message); }

Result<CompilerHello> decode_compiler_hello(const std::string& body) { return read<CompilerHello>("compiler", body); }
Result<CompileJob> decode_compile_job(const std::string& body) { return read<CompileJob>("compile", body); }
Result<CompileReply> decode_compile_reply(const std::string& body) { return read<CompileReply>("compiled", body); }
Result<DeviceFacts> decode_device_facts(const std::string& body) { return read<DeviceFacts>("device", body); }
Result<SetupJob> decode_setup_job(const std::string& body) { return read<SetupJob>("setup", body); }
Result<SetupReply> decode_setup_reply(const std::string& body) { return read<SetupReply>("ready", body); }
Result<RunJob> decode_run_job(const std::string& body) { return read<RunJob>("run", body); }
Result<RunReply> decode_run_reply(const std::string& body) { return read<RunReply>("ran", body); }
Result<TimeJob> decode_time_job(const std::string& body) { return read<TimeJob>("time", body); }
Result<TimeReply> decode_time_reply(const std::string& body) { return read<TimeReply>("timed", body); }
Result<CountJob> decode_count_job(const std::string& body) { return read<CountJob>("count", body); }
Result<CountReply> decode_count_reply(const std::string& body) { return read<CountReply>("counted", body); }

}  // namespace onelaunch::sandbox
