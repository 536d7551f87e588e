#include "sandbox/host/candidate_compiler.h"

#include "base/sha256.h"
#include "sandbox/host/static_gate.h"
#include "sandbox/host/tunables.h"
#include "tasks/generator.h"
#include "tasks/header.h"

namespace onelaunch::sandbox {
namespace {

Result<TunableValues> tunables_of(const CompileRequest& request) {
  auto tunables = scan_tunables(request.source);
  if (!tunables) return because(tunables.error());
  return choose_values(*tunables, request.tunables);
}

}  // namespace

DeviceInfo info_of(const std::string& kind, const DeviceFacts& facts, const Compiler& compiler) {
  DeviceInfo info;
  info.kind = kind;
  info.name = facts.name;
  info.target = facts.target;
  info.uuid = facts.uuid;
  info.driver_version = facts.driver_version;
  info.warnings = facts.warnings;
  info.sms = facts.sms;
  info.stream_tb_s = facts.stream_tb_s;
  info.grid_barrier_us = facts.grid_barrier_us;
  info.launch_us = facts.launch_us;
  info.containment = compiler.containment();
  info.nvrtc_version = compiler.nvrtc_version();
  return info;
}

CandidateCompiler::CandidateCompiler(const tasks::Task& task, Compiler& compiler, const DeviceFacts& facts,
                                     const CompileLimits& limits, std::size_t source_bytes_max, const Clock& clock)
    : task_(task),
      compiler_(compiler),
      facts_(facts),
      limits_(limits),
      source_bytes_max_(source_bytes_max),
      clock_(clock),
      header_(tasks::candidate_header(task)) {}

Result<Compiled> CandidateCompiler::compile(const CompileRequest& request, const MarkedBuild& build, Deadline deadline,
                                            const Interrupts::Scope& interrupts) {
  const Seconds start = clock_.now();
  Compiled compiled;
  compiled.outcome = Passed{};
  compiled.source_sha256 = sha256_hex(request.source);
  if (auto refused = refuse_source(request)) {
    compiled.outcome = *refused;
  } else if (auto values = tunables_of(request); !values) {
    compiled.outcome = Refused{"tunables", values.error().message};
  } else {
    compiled.tunables = std::move(*values);
    auto done = compiler_.compile(job_for(request.source, compiled.tunables, build), deadline, interrupts);
    if (!done) return because(done.error());
    compiled.cached = done->cached;
    judge(std::move(done->reply), build.build != tasks::Build::timed, compiled);
  }
  compiled.seconds = (clock_.now() - start).count();
  return compiled;
}

std::optional<Refused> CandidateCompiler::refuse_source(const CompileRequest& request) const {
  if (request.source.size() > source_bytes_max_)
    return Refused{"source", "the source has " + std::to_string(request.source.size()) + " bytes; the limit is " +
                                 std::to_string(source_bytes_max_)};
  if (request.source.find('\0') != std::string::npos) return Refused{"source", "the source contains a NUL byte"};
  return std::nullopt;
}

CompileJob CandidateCompiler::job_for(const std::string& source, const TunableValues& values, const MarkedBuild& build) const {
  CompileJob job;
  job.source = source;
  job.header = build.build == tasks::Build::timed ? header_ : tasks::candidate_header(task_, build.build);
  job.options = {"--gpu-architecture=" + facts_.target, "--std=c++20"};
  for (const auto& [name, value] : values) job.options.push_back("-D" + name + "=" + value);
  for (const std::string& define : build.defines) job.options.push_back("-D" + define);
  job.limits = limits_;
  return job;
}

void CandidateCompiler::judge(CompileReply reply, bool marked, Compiled& compiled) const {
  using Status = CompileReply::Status;
  compiled.log = reply.log;
  if (reply.status == Status::timed_out) {
    compiled.outcome = TimedOut{"compiling", limits_.wall_s};
  } else if (reply.status == Status::out_of_memory) {
    compiled.outcome = CompileFailed{reply.log + "the compiler needs more than " +
                                     std::to_string(limits_.memory_bytes >> 20) + " MiB of memory"};
  } else if (reply.status == Status::crashed) {
    compiled.outcome = CompileFailed{reply.log + "the compiler crashed on this source: " + reply.how};
  } else if (reply.status == Status::failed) {
    compiled.outcome = CompileFailed{reply.log};
  } else {
    GateLimits limits = gate_limits(tasks::weight_arena(task_).bytes);
    limits.args_bytes = tasks::args_layout(task_).bytes;
    limits.prepare_args_bytes = tasks::prepare_args_layout(task_).bytes;
    limits.marked = marked;
    auto verdict = static_gate(reply, facts_, limits);
    if (Refused* refused = std::get_if<Refused>(&verdict)) compiled.outcome = std::move(*refused);
    if (Declarations* declared = std::get_if<Declarations>(&verdict)) {
      compiled.launch = declared->launch;
      compiled.prepares = std::move(declared->prepares);
      compiled.resources = declared->resources;
    }
  }
  compiled.ptx = std::move(reply.ptx);
  compiled.cubin = std::move(reply.cubin);
  if (!compiled.ptx.empty()) compiled.ptx_sha256 = sha256_hex(compiled.ptx);
  if (!compiled.cubin.empty()) compiled.cubin_sha256 = sha256_hex(compiled.cubin);
}

}  // namespace onelaunch::sandbox
