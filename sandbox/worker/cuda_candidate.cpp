#include "sandbox/worker/cuda_candidate.h"

#include <sched.h>
#include <time.h>

#include <cstring>
#include <set>
#include <span>

#include "base/sha256.h"
#include "sandbox/protocol/poison.h"

namespace onelaunch::worker {

using sandbox::LaunchFault;
using sandbox::LaunchOrder;
using sandbox::LaunchResult;

namespace {

// Fewer launches than this are waited for one by one, so that a fault is told of the kernel that made it.
constexpr std::size_t kWaitedForSingly = 8;
constexpr double kSpinS = 0.02;

std::string no_such_part(const std::string& buffer) { return "the host named a part of " + buffer + " that does not exist"; }

std::string poison(std::uint64_t bytes, std::uint64_t seed) {
  std::string content(bytes, '\0');
  sandbox::fill_poison(std::as_writable_bytes(std::span(content)), seed);
  return content;
}

}  // namespace

sandbox::DeviceFacts facts_of(const cuda::DeviceProperties& p) {
  sandbox::DeviceFacts facts;
  facts.name = p.name, facts.target = p.target, facts.uuid = p.uuid, facts.driver_version = p.driver_version;
  facts.warnings = p.warnings;
  facts.memory_bytes = p.memory_bytes, facts.memory_free_bytes = p.memory_free_bytes, facts.l2_bytes = p.l2_bytes;
  facts.sms = p.sms, facts.threads_per_sm = p.threads_per_sm, facts.threads_per_block = p.threads_per_block;
  facts.blocks_per_sm = p.blocks_per_sm, facts.registers_per_sm = p.registers_per_sm;
  facts.registers_per_thread = 255;  // of every architecture that is supported
  facts.shared_per_sm = p.shared_per_sm, facts.shared_per_block = p.shared_per_block;
  facts.shared_reserved_per_block = p.shared_reserved_per_block;
  return facts;
}

CudaCandidate::CudaCandidate(cuda::Device& device, PrintedOutput& printed, Result<cuda::ActivityRecorder> recorder, const Clock& clock)
    : device_(device), driver_(device.driver()), printed_(printed), recorder_(std::move(recorder)), clock_(clock) {}

CudaCandidate::~CudaCandidate() {
  if (stream_ != nullptr) driver_.cuStreamDestroy(stream_);
}

CudaCandidate::Problem CudaCandidate::checked(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return std::nullopt;
  return describe(driver_, result, call);
}

CudaCandidate::Problem CudaCandidate::add(const sandbox::BufferSpec& spec) {
  auto buffer = cuda::GuardedBuffer::create(driver_, device_.ordinal(), spec.bytes);
  if (!buffer) return "making the buffer " + spec.name + " of " + std::to_string(spec.bytes) + " bytes: " + buffer.error().message;
  buffers_.emplace(spec.name, std::move(*buffer));
  return std::nullopt;
}

sandbox::SetupReply CudaCandidate::set_up(const sandbox::SetupJob& job) {
  sandbox::SetupReply reply;
  modules_.clear();
  buffers_.clear();
  if (stream_ == nullptr)
    if (auto problem = checked(driver_.cuStreamCreate(&stream_, CU_STREAM_DEFAULT), "cuStreamCreate")) return reply.problem = *problem, reply;
  for (const sandbox::BufferSpec& spec : job.buffers)
    if (auto problem = add(spec)) return reply.problem = *problem, reply;
  for (const sandbox::ModuleSpec& spec : job.modules) {
    auto module = cuda::Module::load(driver_, spec.cubin);
    if (!module) return reply.problem = "loading the kernels " + spec.name + ": " + module.error().message, reply;
    if (modules_.empty())
      if (auto entries = module->entries()) reply.entries = std::move(*entries);
    modules_.emplace(spec.name, std::move(*module));
  }
  if (auto problem = checked(driver_.cuCtxSynchronize(), "cuCtxSynchronize")) reply.problem = *problem;
  return reply;
}

CUdeviceptr CudaCandidate::part(const std::string& buffer, std::uint64_t offset, std::uint64_t bytes, bool written) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end() || offset > found->second.bytes() || found->second.bytes() - offset < bytes) return 0;
  return written && found->second.sealed() ? 0 : found->second.address() + offset;
}

CudaCandidate::Problem CudaCandidate::fill(const sandbox::BufferFill& order, const std::string& content) {
  const auto found = buffers_.find(order.buffer);
  const CUdeviceptr address = found != buffers_.end() ? part(order.buffer, 0, found->second.bytes(), true) : 0;
  if (address == 0) return no_such_part(order.buffer);
  const std::uint64_t bytes = found->second.bytes();
  if (!order.poison) return checked(driver_.cuMemsetD8Async(address, 0, bytes, stream_), "cuMemsetD8Async");
  return checked(driver_.cuMemcpyHtoDAsync(address, content.data(), bytes, stream_), "cuMemcpyHtoDAsync");
}

CudaCandidate::Problem CudaCandidate::write(const sandbox::BufferWrite& order) {
  if (order.bytes.empty()) return std::nullopt;
  const CUdeviceptr address = part(order.buffer, order.offset, order.bytes.size(), true);
  if (address == 0) return no_such_part(order.buffer);
  return checked(driver_.cuMemcpyHtoDAsync(address, order.bytes.data(), order.bytes.size(), stream_), "cuMemcpyHtoDAsync");
}

CudaCandidate::Problem CudaCandidate::copy(const sandbox::BufferCopy& order) {
  if (order.bytes == 0) return std::nullopt;
  const CUdeviceptr from = part(order.from, order.from_offset, order.bytes, false), to = part(order.to, order.to_offset, order.bytes, true);
  if (from == 0 || to == 0) return no_such_part(order.from + " or " + order.to);
  return checked(driver_.cuMemcpyDtoDAsync(to, from, order.bytes, stream_), "cuMemcpyDtoDAsync");
}

CudaCandidate::Problem CudaCandidate::read(const sandbox::BufferRead& order, std::vector<std::string>& reads) {
  std::string content(order.bytes, '\0');
  const CUdeviceptr address = part(order.buffer, order.offset, order.bytes, false);
  if (address == 0 && order.bytes > 0) return no_such_part(order.buffer);
  if (order.bytes > 0)
    if (auto problem = checked(driver_.cuMemcpyDtoH(content.data(), address, order.bytes), "cuMemcpyDtoH")) return problem;
  reads.push_back(order.digest ? sha256_hex(std::as_bytes(std::span(content))) : std::move(content));
  return std::nullopt;
}

CudaCandidate::Problem CudaCandidate::make_ready(const LaunchOrder& order, ReadyLaunch& ready) const {
  const auto module = modules_.find(order.module);
  if (module == modules_.end()) return "the host named kernels " + order.module + " that were not loaded";
  auto function = module->second.function(order.entry);
  if (!function) return function.error().message;
  ready.entry = order.entry;
  ready.function = *function;
  ready.grid = static_cast<unsigned>(order.grid), ready.block = static_cast<unsigned>(order.block);
  ready.dynamic_smem = static_cast<unsigned>(order.dynamic_smem), ready.cluster = static_cast<unsigned>(order.cluster);
  ready.cooperative = order.cooperative;
  ready.parameters = order.parameters;
  for (const sandbox::Relocation& relocation : order.relocations) {
    const CUdeviceptr address = part(relocation.buffer, relocation.addend, 0, false);
    if (address == 0 || relocation.offset + sizeof address > ready.parameters.size()) return no_such_part(relocation.buffer);
    std::memcpy(ready.parameters.data() + relocation.offset, &address, sizeof address);
  }
  return std::nullopt;
}

std::vector<LaunchFault> CudaCandidate::finish(const std::string& entry, double seconds) const {
  const Seconds start = clock_.now();
  for (;;) {
    const CUresult result = driver_.cuStreamQuery(stream_);
    if (result == CUDA_SUCCESS) return {};
    if (result != CUDA_ERROR_NOT_READY) return {fault_of(driver_, result, entry)};
    const double waited = (clock_.now() - start).count();
    if (waited > seconds) return {{"time_limit", entry + " had not returned after " + std::to_string(seconds) + " s"}};
    if (waited < kSpinS) {
      ::sched_yield();
    } else {
      const timespec nap{0, 100'000};
      ::nanosleep(&nap, nullptr);
    }
  }
}

CudaCandidate::Problem CudaCandidate::check_canaries(const std::string& entry, std::vector<LaunchFault>& faults) const {
  for (const auto& [name, buffer] : buffers_) {
    if (buffer.sealed()) continue;
    const auto intact = buffer.intact();
    if (!intact) return intact.error().message;
    if (!*intact) faults.push_back({"out_of_bounds", entry + " wrote before or behind the buffer " + name});
  }
  return std::nullopt;
}

CudaCandidate::Problem CudaCandidate::launch_all(const std::vector<LaunchOrder>& orders, sandbox::RunReply& reply) {
  const bool singly = orders.size() <= kWaitedForSingly;
  std::set<CUfunction> permitted;
  bool of_candidate = false;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const LaunchOrder& order = orders[i];
    LaunchResult result;
    ReadyLaunch ready;
    const Seconds start = clock_.now();
    if (auto problem = make_ready(order, ready)) return problem;
    if (order.cooperative || order.dynamic_smem > 0 || permitted.insert(ready.function).second) result.faults = permit(device_, ready);
    if (result.faults.empty())
      if (const CUresult launched = launch(driver_, ready, stream_); launched != CUDA_SUCCESS) result.faults = {fault_of(driver_, launched, order.entry)};
    if (result.faults.empty() && (singly || i + 1 == orders.size())) result.faults = finish(order.entry, order.seconds_max > 0 ? order.seconds_max : 10);
    of_candidate = of_candidate || order.cooperative;
    if (result.faults.empty() && i + 1 == orders.size() && of_candidate)
      if (auto problem = check_canaries(order.entry, result.faults)) return problem;
    result.host_seconds = (clock_.now() - start).count();
    result.printed = printed_.take(result.printed_truncated);
    reply.launches.push_back(std::move(result));
    if (!reply.launches.back().faults.empty()) return std::nullopt;
  }
  return std::nullopt;
}

sandbox::RunReply CudaCandidate::run(const sandbox::RunJob& job) {
  sandbox::RunReply reply;
  Problem problem;
  std::vector<std::string> poisons;
  for (const sandbox::BufferFill& order : job.fills) {
    const auto found = buffers_.find(order.buffer);
    poisons.push_back(order.poison && found != buffers_.end() ? poison(found->second.bytes(), order.seed) : "");
    if (!problem) problem = fill(order, poisons.back());
  }
  for (const sandbox::BufferWrite& order : job.writes)
    if (!problem) problem = write(order);
  for (const sandbox::BufferCopy& order : job.copies)
    if (!problem) problem = copy(order);
  if (!problem) problem = checked(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
  if (!problem) problem = launch_all(job.launches, reply);
  const bool faulted = !reply.launches.empty() && !reply.launches.back().faults.empty();
  if (!problem && faulted) return reply;
  for (const std::string& name : job.seals) {
    const auto found = buffers_.find(name);
    if (problem) break;
    if (found == buffers_.end()) problem = no_such_part(name);
    else if (auto sealed = found->second.seal(); !sealed) problem = sealed.error().message;
  }
  for (const sandbox::BufferRead& order : job.reads)
    if (!problem) problem = read(order, reply.reads);
  if (problem) reply.problem = *problem;
  return reply;
}

}  // namespace onelaunch::worker
