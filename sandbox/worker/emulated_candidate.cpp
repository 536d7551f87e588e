#include "sandbox/worker/emulated_candidate.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include "base/sha256.h"
#include "sandbox/protocol/poison.h"

namespace onelaunch::worker {
namespace {

using sandbox::BufferFill;
using sandbox::BufferRead;
using sandbox::BufferSpec;
using sandbox::BufferWrite;
using sandbox::LaunchOrder;
using sandbox::LaunchPhase;
using sandbox::LaunchResult;
using sandbox::RunJob;
using sandbox::RunReply;

const char* name_of(emu::Fault::Kind kind) {
  using Kind = emu::Fault::Kind;
  switch (kind) {
    case Kind::out_of_bounds: return "out_of_bounds";
    case Kind::misaligned: return "misaligned";
    case Kind::read_only_write: return "read_only_write";
    case Kind::wrong_space: return "wrong_space";
    case Kind::trap: return "trap";
    case Kind::deadlock: return "deadlock";
    case Kind::no_progress: return "no_progress";
    case Kind::divergent_barrier: return "divergent_barrier";
    case Kind::misuse: return "misuse";
    case Kind::not_resident: return "not_resident";
    case Kind::instruction_limit: return "instruction_limit";
    case Kind::time_limit: return "time_limit";
    case Kind::data_race: return "data_race";
    case Kind::uninitialised_read: return "uninitialised_read";
  }
  return "unknown";
}

LaunchPhase phase_of(const emu::PhaseCounters& counters) {
  return {counters.bound, counters.us, counters.dram_bytes_read + counters.dram_bytes_written,
          counters.warp_instructions};
}

LaunchResult result_of(emu::LaunchReport report) {
  LaunchResult result;
  for (emu::Fault& fault : report.faults) result.faults.push_back({name_of(fault.kind), std::move(fault.message)});
  for (const emu::PhaseCounters& phase : report.phases) result.phases.push_back(phase_of(phase));
  result.total = phase_of(report.total);
  result.printed = std::move(report.printed);
  result.printed_truncated = report.printed_truncated;
  result.host_seconds = report.host_seconds;
  return result;
}

RunJob once(const sandbox::TimedChain& chain) {
  RunJob job;
  job.fills = chain.fills;
  job.writes = chain.writes;
  job.copies = chain.copies;
  job.launches = chain.launches;
  job.reads = chain.reads;
  return job;
}

std::string no_such_part(const std::string& buffer) { return "the host named a part of " + buffer + " that does not exist"; }

}  // namespace

sandbox::DeviceFacts facts_of(const emu::DeviceProfile& profile) {
  sandbox::DeviceFacts facts;
  facts.name = profile.name + " (emulated)";
  facts.target = profile.target;
  facts.sms = profile.sms;
  facts.threads_per_sm = profile.threads_per_sm;
  facts.threads_per_block = profile.threads_per_block;
  facts.blocks_per_sm = profile.blocks_per_sm;
  facts.registers_per_sm = profile.registers_per_sm;
  facts.registers_per_thread = profile.registers_per_thread;
  facts.shared_per_sm = profile.shared_per_sm;
  facts.shared_per_block = profile.shared_per_block;
  facts.shared_reserved_per_block = profile.shared_reserved_per_block;
  facts.stream_tb_s = profile.dram_tb_s;
  facts.grid_barrier_us = profile.grid_barrier_us;
  facts.launch_us = profile.launch_us;
  if (!profile.measured)
    facts.warnings.push_back("times modelled for the " + profile.name + " rest on its vendor's bandwidth and on latencies of an H200: none was measured on such a card");
  return facts;
}

std::optional<std::string> EmulatedCandidate::add_buffer(const BufferSpec& spec, int weights) {
  const emu::AllocationSpec allocation{spec.name, spec.bytes, spec.weights};
  const auto address = spec.weights ? device_->map(allocation, weights, spec.offset) : device_->allocate(allocation);
  if (!address) return "making the buffer " + spec.name + ": " + address.error().message;
  buffers_[spec.name] = {*address, spec.bytes, spec.weights};
  return std::nullopt;
}

sandbox::SetupReply EmulatedCandidate::set_up(const sandbox::SetupJob& job, UniqueFd weights) {
  sandbox::SetupReply reply;
  modules_.clear();
  buffers_.clear();
  device_ = std::make_unique<emu::Device>(emu::profile_of_target(job.target));
  weights_ = std::move(weights);
  for (const BufferSpec& spec : job.buffers) {
    if (auto problem = add_buffer(spec, weights_.get())) {
      reply.problem = *problem;
      return reply;
    }
  }
  for (const sandbox::ModuleSpec& spec : job.modules) {
    auto module = device_->load(spec.ptx);
    if (!module) {
      // PTX that NVRTC made but the device cannot run is no fault of ours: it is said to the candidate's author.
      (module.error().kind == Error::Kind::invalid_input ? reply.refusal : reply.problem) = module.error().message;
      return reply;
    }
    if (modules_.empty()) reply.entries = device_->entries(**module);
    modules_[spec.name] = *module;
  }
  return reply;
}

std::span<std::byte> EmulatedCandidate::part(const std::string& buffer, std::uint64_t offset, std::uint64_t count) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end() || offset > found->second.bytes || found->second.bytes - offset < count) return {};
  return device_->bytes(found->second.address).subspan(offset, count);
}

std::optional<std::string> EmulatedCandidate::write(const RunJob& job) {
  for (const BufferFill& fill : job.fills) {
    const auto found = buffers_.find(fill.buffer);
    if (found == buffers_.end() || found->second.weights) return no_such_part(fill.buffer);
    const std::span<std::byte> all = part(fill.buffer, 0, found->second.bytes);
    device_->set_defined(found->second.address, !fill.poison);
    if (fill.poison)
      sandbox::fill_poison(all, fill.seed);
    else if (!all.empty())
      std::memset(all.data(), 0, all.size());
  }
  for (const BufferWrite& order : job.writes) {
    const auto found = buffers_.find(order.buffer);
    const std::span<std::byte> target = part(order.buffer, order.offset, order.bytes.size());
    if (found == buffers_.end() || found->second.weights || target.size() != order.bytes.size())
      return no_such_part(order.buffer);
    if (!target.empty()) std::memcpy(target.data(), order.bytes.data(), target.size());
  }
  for (const sandbox::BufferCopy& order : job.copies) {
    const auto found = buffers_.find(order.to);
    const std::span<std::byte> from = part(order.from, order.from_offset, order.bytes);
    const std::span<std::byte> to = part(order.to, order.to_offset, order.bytes);
    if (found == buffers_.end() || found->second.weights || from.size() != order.bytes || to.size() != order.bytes)
      return no_such_part(order.from + " or " + order.to);
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
  }
  return std::nullopt;
}

std::optional<std::string> EmulatedCandidate::launch(const LaunchOrder& order, RunReply& reply) {
  const auto module = modules_.find(order.module);
  if (module == modules_.end()) return "the host named a module " + order.module + " that was not loaded";
  std::vector<std::byte> parameters(order.parameters.size());
  std::memcpy(parameters.data(), order.parameters.data(), parameters.size());
  for (const sandbox::Relocation& relocation : order.relocations) {
    const auto found = buffers_.find(relocation.buffer);
    if (found == buffers_.end() || relocation.offset + sizeof(std::uint64_t) > parameters.size())
      return no_such_part(relocation.buffer);
    const std::uint64_t address = found->second.address + relocation.addend;
    std::memcpy(parameters.data() + relocation.offset, &address, sizeof address);
  }
  emu::LaunchShape shape;
  shape.grid = static_cast<unsigned>(order.grid);
  shape.block = static_cast<unsigned>(order.block);
  shape.dynamic_shared_bytes = order.dynamic_smem;
  shape.cluster = static_cast<unsigned>(order.cluster);
  shape.registers_per_thread = order.registers;
  emu::LaunchOptions options;
  options.cooperative = order.cooperative;
  options.schedule_seed = order.schedule_seed;
  options.checks = {.races = order.detect, .undefined = order.detect};
  options.instructions_max = order.instructions_max;
  options.seconds_max = order.seconds_max;
  auto report = device_->launch(*module->second, order.entry, shape, parameters, options);
  if (!report) {
    // Decoding happens at the first launch: an instruction that is not implemented shows here.
    if (report.error().kind != Error::Kind::invalid_input) return "launching " + order.entry + ": " + report.error().message;
    LaunchResult refused;
    refused.faults.push_back({"not_implemented", report.error().message});
    reply.launches.push_back(std::move(refused));
    return std::nullopt;
  }
  reply.launches.push_back(result_of(std::move(*report)));
  return std::nullopt;
}

std::optional<std::string> EmulatedCandidate::read(const BufferRead& order, RunReply& reply) {
  const std::span<const std::byte> bytes = part(order.buffer, order.offset, order.bytes);
  if (bytes.size() != order.bytes) return no_such_part(order.buffer);
  if (order.digest)
    reply.reads.push_back(sha256_hex(bytes));
  else
    reply.reads.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::nullopt;
}

RunReply EmulatedCandidate::run(const RunJob& job) {
  RunReply reply;
  if (modules_.empty()) {
    reply.problem = "nothing is set up";
    return reply;
  }
  std::optional<std::string> problem = write(job);
  if (!job.keep.empty()) kept_ = job.keep;
  if (!problem && !is_part(job.again, kept_.size())) problem = "the host named launches that are not kept";
  const std::uint64_t kept = problem ? 0 : job.again.count;
  for (std::size_t i = 0; i < job.launches.size() + kept && !problem; ++i) {
    const bool fresh = i < job.launches.size();
    problem = launch(fresh ? job.launches[i] : kept_[job.again.first + i - job.launches.size()], reply);
    if (!problem && !reply.launches.back().faults.empty()) return reply;
  }
  for (const BufferRead& order : job.reads)
    if (!problem) problem = read(order, reply);
  if (problem) reply.problem = *problem;
  return reply;
}

sandbox::TimeReply EmulatedCandidate::time(const sandbox::TimeJob& job) {
  sandbox::TimeReply reply;
  for (const std::uint32_t index : job.order) {
    if (index >= job.chains.size()) return reply.problem = "the order names a chain that is not there", reply;
    RunReply ran = run(once(job.chains[index]));
    if (!ran.problem.empty()) return reply.problem = ran.problem, reply;
    sandbox::ChainSample sample;
    sample.chain = index;
    for (const LaunchResult& launch : ran.launches) {
      if (!launch.faults.empty()) return reply.faults = launch.faults, reply;
      sample.device_us += launch.total.us;
    }
    sample.wall_us = sample.device_us;
    sample.reads = std::move(ran.reads);
    reply.samples.push_back(std::move(sample));
  }
  return reply;
}

sandbox::CountReply EmulatedCandidate::count(const sandbox::CountJob& job) {
  sandbox::CountReply reply;
  const RunReply ran = run(once(job.chain));
  reply.problem = ran.problem;
  for (std::size_t i = 0; i < ran.launches.size(); ++i) {
    if (!ran.launches[i].faults.empty()) return reply.faults = ran.launches[i].faults, reply;
    ++reply.kernels;
    reply.kernel_us.push_back(ran.launches[i].total.us);
    if (std::ranges::find(reply.names, job.chain.launches[i].entry) == reply.names.end())
      reply.names.push_back(job.chain.launches[i].entry);
  }
  return reply;
}

}  // namespace onelaunch::worker
