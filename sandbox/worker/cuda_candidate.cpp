#include "sandbox/worker/cuda_candidate.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

namespace onelaunch::worker {

using sandbox::LaunchOrder;
using sandbox::LaunchResult;

namespace {

constexpr const char* kHarnessModule = "harness";
// A fault is told of the kernel that made it: a candidate's launches are waited for one by one. Of many others some go
// together, but not so many that the driver's queue fills up.
constexpr std::size_t kFew = 8, kTogetherMax = 256;
constexpr double kSpinS = 0.02;       // then the waiting thread naps
constexpr double kSecondsMax = 10;    // of a launch whose order says nothing
constexpr std::uint64_t kGridMax = std::numeric_limits<std::int32_t>::max();

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

CudaCandidate::CudaCandidate(const cuda::Device& device, PrintedOutput& printed, Result<cuda::ActivityRecorder> recorder, const Clock& clock)
    : device_(device), driver_(device.driver()), printed_(printed), recorder_(std::move(recorder)), clock_(clock), buffers_(device) {}

Problem CudaCandidate::checked(CUresult result, const char* call) {
  const Ended ended = noted(ended_with(driver_, result, call));
  if (ended.well()) return std::nullopt;
  return ended.problem ? ended.problem : ended.faults.front().message;
}

Ended CudaCandidate::noted(Ended ended) {
  lost_ = lost_ || ended.context_lost;
  return ended;
}

Problem CudaCandidate::load(const std::vector<sandbox::ModuleSpec>& specs, std::vector<std::string>& entries) {
  for (const sandbox::ModuleSpec& spec : specs) {
    auto module = cuda::Module::load(driver_, spec.cubin);
    if (!module) return "loading the kernels " + spec.name + ": " + module.error().message;
    if (modules_.empty()) {
      auto names = module->entries();
      if (!names) return "listing the kernels " + spec.name + ": " + names.error().message;
      entries = std::move(*names);
    }
    modules_.emplace(spec.name, std::move(*module));
  }
  return std::nullopt;
}

Problem CudaCandidate::make_tools() {
  const auto harness = modules_.find(kHarnessModule);
  if (harness == modules_.end()) return std::nullopt;
  const auto gate_kernel = harness->second.function("ol_gate"), sweep_kernel = harness->second.function("ol_sweep");
  if (!gate_kernel || !sweep_kernel) return (!gate_kernel ? gate_kernel : sweep_kernel).error().message;
  auto gate = cuda::Gate::create(driver_, *gate_kernel);
  if (!gate) return gate.error().message;
  auto sweep = cuda::Sweep::create(device_, *sweep_kernel);
  if (!sweep) return sweep.error().message;
  auto begin = cuda::Event::create(driver_), end = cuda::Event::create(driver_);
  if (!begin || !end) return (!begin ? begin : end).error().message;
  tools_.emplace(Tools{std::move(*gate), std::move(*sweep), std::move(*begin), std::move(*end)});
  return std::nullopt;
}

sandbox::SetupReply CudaCandidate::set_up(const sandbox::SetupJob& job) {
  sandbox::SetupReply reply;
  tools_.reset();
  kept_.clear();
  modules_.clear();
  buffers_.clear();
  if (!stream_) {
    auto stream = cuda::Stream::create(driver_);
    if (!stream) return reply.problem = stream.error().message, reply;
    stream_.emplace(std::move(*stream));
  }
  Problem problem;
  for (const sandbox::BufferSpec& spec : job.buffers)
    if (!problem) problem = buffers_.add(spec);
  if (!problem) problem = load(job.modules, reply.entries);
  if (!problem) problem = make_tools();
  if (!problem) problem = checked(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
  if (problem) reply.problem = *problem;
  return reply;
}

Problem CudaCandidate::make_ready(const LaunchOrder& order, ReadyLaunch& ready) const {
  const auto module = modules_.find(order.module);
  if (module == modules_.end()) return "the host named kernels " + order.module + " that were not loaded";
  auto function = module->second.function(order.entry);
  if (!function) return function.error().message;
  for (const std::uint64_t size : {order.grid, order.block, order.dynamic_smem, order.cluster})
    if (size > kGridMax) return "the host asked for a launch of " + order.entry + " that no device can make";
  ready.entry = order.entry;
  ready.function = *function;
  ready.grid = static_cast<unsigned>(order.grid), ready.block = static_cast<unsigned>(order.block);
  ready.dynamic_smem = static_cast<unsigned>(order.dynamic_smem), ready.cluster = static_cast<unsigned>(order.cluster);
  ready.cooperative = order.cooperative;
  ready.parameters = order.parameters;
  for (const sandbox::Relocation& relocation : order.relocations) {
    const CUdeviceptr address = buffers_.part(relocation.buffer, relocation.addend, 0);
    if (address == 0 || relocation.offset > ready.parameters.size() || ready.parameters.size() - relocation.offset < sizeof address)
      return "the host named a part of " + relocation.buffer + " that does not exist";
    std::memcpy(ready.parameters.data() + relocation.offset, &address, sizeof address);
  }
  return std::nullopt;
}

Ended CudaCandidate::finish(const std::string& entry, double seconds) {
  const Seconds start = clock_.now();
  for (;;) {
    const CUresult result = driver_.cuStreamQuery(stream_->get());
    if (result != CUDA_ERROR_NOT_READY) return noted(ended_with(driver_, result, entry));
    const double waited = (clock_.now() - start).count();
    if (waited > seconds) {
      Ended late;
      char limit[32];
      std::snprintf(limit, sizeof limit, "%.3g s", seconds);
      late.faults.push_back({"time_limit", entry + " had not returned after " + limit});
      late.context_lost = true;
      return noted(std::move(late));
    }
    if (waited < kSpinS) {
      ::sched_yield();
    } else {
      const timespec nap{0, 100'000};
      ::nanosleep(&nap, nullptr);
    }
  }
}

Ended CudaCandidate::finish_and_print(const std::string& entry, double seconds) {
  Ended ended = finish(entry, seconds);
  // The driver hands over what kernels printed when it is waited for, not when it is asked.
  return ended.well() ? noted(ended_with(driver_, driver_.cuCtxSynchronize(), entry)) : ended;
}

Problem CudaCandidate::launch_one(const LaunchOrder& order, bool wait, LaunchResult& result) {
  const Seconds start = clock_.now();
  ReadyLaunch ready;
  if (auto problem = make_ready(order, ready)) return problem;
  Ended ended = noted(permit(device_, ready));
  if (ended.well()) ended = noted(ended_with(driver_, launch(driver_, ready, stream_->get()), order.entry));
  if (ended.well() && wait) ended = finish_and_print(order.entry, order.seconds_max > 0 ? order.seconds_max : kSecondsMax);
  result.faults = std::move(ended.faults);
  result.host_seconds = (clock_.now() - start).count();
  return ended.problem;
}

Problem CudaCandidate::launch_all(const std::vector<LaunchOrder>& orders, sandbox::RunReply& reply) {
  // A candidate's: megakernels, or the few kernels that prepare them. The harness's own are many.
  const bool watched = orders.size() <= kFew || std::ranges::any_of(orders, &LaunchOrder::cooperative);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const bool last = i + 1 == orders.size();
    const bool wait = watched || last || i % kTogetherMax == kTogetherMax - 1;
    LaunchResult& result = reply.launches.emplace_back();
    if (auto problem = launch_one(orders[i], wait, result)) return problem;
    if (result.faults.empty() && last && watched)
      if (auto problem = buffers_.check_slack(cuda::GuardedBuffer::Slack::near, orders[i].entry, result.faults)) return problem;
    if (wait) result.printed = printed_.take(result.printed_truncated);
    if (!result.faults.empty()) return std::nullopt;
  }
  return std::nullopt;
}

Problem CudaCandidate::keep(const std::vector<LaunchOrder>& orders) {
  kept_.clear();
  for (const LaunchOrder& order : orders) {
    if (auto problem = make_ready(order, kept_.emplace_back())) return problem;
    const Ended ended = noted(permit(device_, kept_.back()));
    if (!ended.well()) return ended.problem ? ended.problem : ended.faults.front().message;
  }
  return std::nullopt;
}

// Waited for once, at the end: they are the harness's own.
Problem CudaCandidate::launch_kept(const sandbox::KeptLaunches& which, sandbox::RunReply& reply) {
  if (!is_part(which, kept_.size()) || which.count > kTogetherMax) return "the host named launches that are not kept";
  for (std::uint64_t i = 0; i < which.count; ++i) {
    const ReadyLaunch& ready = kept_[which.first + i];
    Ended ended = noted(ended_with(driver_, launch(driver_, ready, stream_->get()), ready.entry));
    if (ended.well() && i + 1 == which.count) ended = finish(ready.entry, kSecondsMax);
    reply.launches.emplace_back().faults = std::move(ended.faults);
    if (ended.problem || !reply.launches.back().faults.empty()) return ended.problem;
  }
  return std::nullopt;
}

sandbox::RunReply CudaCandidate::run(const sandbox::RunJob& job) {
  sandbox::RunReply reply;
  if (!stream_) return reply.problem = "nothing is set up", reply;
  Problem problem = buffers_.put(buffers_.contents(job), stream_->get());
  if (!problem) problem = checked(driver_.cuStreamSynchronize(stream_->get()), "cuStreamSynchronize");
  if (!problem && !job.keep.empty()) problem = keep(job.keep);
  if (!problem) problem = launch_all(job.launches, reply);
  const bool well = !problem && (reply.launches.empty() || reply.launches.back().faults.empty());
  if (well && job.again.count > 0) problem = launch_kept(job.again, reply);
  if (!problem && !reply.launches.empty() && !reply.launches.back().faults.empty()) return reply;
  for (const std::string& name : job.seals)
    if (!problem) problem = buffers_.seal(name);
  if (!problem) problem = buffers_.read(job.reads, reply.reads);
  if (problem) reply.problem = *problem;
  return reply;
}

}  // namespace onelaunch::worker
