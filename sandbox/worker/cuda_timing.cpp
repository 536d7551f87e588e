// Timed and counted chains of CudaCandidate.
#include <algorithm>
#include <span>

#include "sandbox/protocol/poison.h"
#include "sandbox/worker/cuda_candidate.h"

namespace onelaunch::worker {

using sandbox::ChainSample;
using sandbox::LaunchFault;

namespace {

constexpr const char* kHarnessModule = "harness";
constexpr std::size_t kLaunchesMax = 500;              // behind a closed gate; about 1,000 more would block the host
constexpr std::uint64_t kGateTimeoutNs = 2'000'000'000;
constexpr double kChainS = 5;                          // one run of a chain; its launches take milliseconds
constexpr std::uint64_t kSweptOfL2 = 2;
constexpr unsigned kSweepBlock = 512;

double us_since(const Clock& clock, Seconds start) { return (clock.now() - start).count() * 1e6; }

template <class... Words>
std::string words(Words... values) {
  const std::uint64_t all[] = {static_cast<std::uint64_t>(values)...};
  return {reinterpret_cast<const char*>(all), sizeof all};
}

}  // namespace

// A chain with everything that can be made before it is first run.
struct CudaCandidate::Chain {
  const sandbox::TimedChain* order = nullptr;
  std::vector<std::string> poisons;    // of each fill
  std::vector<ReadyLaunch> launches;
  std::optional<cuda::Graph> graph;
};

CudaCandidate::Problem CudaCandidate::make_chain(const sandbox::TimedChain& order, bool graph, Chain& chain,
                                                 std::vector<LaunchFault>& faults) {
  if (order.launches.size() > kLaunchesMax) return "a chain of more than " + std::to_string(kLaunchesMax) + " launches";
  chain.order = &order;
  for (const sandbox::BufferFill& fill : order.fills) {
    const auto found = buffers_.find(fill.buffer);
    chain.poisons.emplace_back(fill.poison && found != buffers_.end() ? found->second.bytes() : 0, '\0');
    sandbox::fill_poison(std::as_writable_bytes(std::span(chain.poisons.back())), fill.seed);
  }
  for (const sandbox::LaunchOrder& launch : order.launches) {
    if (auto problem = make_ready(launch, chain.launches.emplace_back())) return problem;
    if (faults.empty()) faults = permit(device_, chain.launches.back());
  }
  return graph && faults.empty() ? capture(chain) : std::nullopt;
}

CudaCandidate::Problem CudaCandidate::capture(Chain& chain) {
  if (auto problem = checked(driver_.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture")) return problem;
  Problem problem;
  for (const ReadyLaunch& ready : chain.launches)
    if (!problem) problem = checked(launch(driver_, ready, stream_), "capturing a launch");
  CUgraph graph = nullptr;
  const Problem ended = checked(driver_.cuStreamEndCapture(stream_, &graph), "cuStreamEndCapture");
  if (problem || ended) return problem ? problem : ended;
  CUgraphExec executable = nullptr;
  problem = checked(driver_.cuGraphInstantiate(&executable, graph, 0), "cuGraphInstantiate");
  driver_.cuGraphDestroy(graph);
  if (!problem) chain.graph.emplace(driver_, executable);
  return problem;
}

// Reads twice what the cache holds: a plain read, after the reset, drives out everything, lines that were to persist too.
CudaCandidate::Problem CudaCandidate::sweep() {
  const std::uint64_t bytes = kSweptOfL2 * device_.properties().l2_bytes;
  if (!swept_) {
    auto buffer = cuda::GuardedBuffer::create(driver_, device_.ordinal(), bytes);
    if (!buffer) return buffer.error().message;
    swept_.emplace(std::move(*buffer));
  }
  const auto module = modules_.find(kHarnessModule);
  if (module == modules_.end()) return std::string("the harness's own kernels were not loaded");
  auto function = module->second.function("ol_sweep");
  if (!function) return function.error().message;
  if (auto problem = checked(driver_.cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache")) return problem;
  ReadyLaunch ready;
  ready.function = *function, ready.cooperative = false;
  ready.grid = static_cast<unsigned>(device_.properties().sms) * 2, ready.block = kSweepBlock;
  ready.parameters = words(swept_->address(), bytes / 16);
  return checked(launch(driver_, ready, stream_), "sweeping the cache");
}

CudaCandidate::Problem CudaCandidate::restore(const Chain& chain, bool cold) {
  Problem problem;
  for (std::size_t i = 0; i < chain.order->fills.size(); ++i)
    if (!problem) problem = fill(chain.order->fills[i], chain.poisons[i]);
  for (const sandbox::BufferWrite& order : chain.order->writes)
    if (!problem) problem = write(order);
  for (const sandbox::BufferCopy& order : chain.order->copies)
    if (!problem) problem = copy(order);
  if (!problem && cold) problem = sweep();
  return problem ? problem : checked(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

// Nothing but the launches stands between the two events. They are enqueued behind a closed gate, so that the host's
// speed does not show.
CudaCandidate::Problem CudaCandidate::run_gated(const Chain& chain, double seconds, ChainSample& sample, std::vector<LaunchFault>& faults) {
  const auto module = modules_.find(kHarnessModule);
  if (module == modules_.end()) return std::string("the harness's own kernels were not loaded");
  auto gate = module->second.function("ol_gate");
  if (!gate) return gate.error().message;
  if (!gate_flag_) {
    auto flag = cuda::HostMemory::create(driver_, sizeof(unsigned));
    if (!flag) return flag.error().message;
    gate_flag_.emplace(std::move(*flag));
  }
  auto address = gate_flag_->address();
  auto begin = cuda::Event::create(driver_), end = cuda::Event::create(driver_);
  if (!address || !begin || !end) return !address ? address.error().message : !begin ? begin.error().message : end.error().message;
  auto* const flag = reinterpret_cast<volatile unsigned*>(gate_flag_->data());
  *flag = 0;
  ReadyLaunch closed;
  closed.function = *gate, closed.cooperative = false;
  closed.parameters = words(*address, kGateTimeoutNs);
  if (auto problem = checked(launch(driver_, closed, stream_), "closing the gate")) return problem;
  if (auto problem = checked(driver_.cuEventRecord(begin->get(), stream_), "cuEventRecord")) return problem;
  const Seconds enqueued = clock_.now();
  CUresult result = CUDA_SUCCESS;
  if (chain.graph) {
    result = driver_.cuGraphLaunch(chain.graph->get(), stream_);
  } else {
    for (const ReadyLaunch& ready : chain.launches)
      if (result == CUDA_SUCCESS) result = launch(driver_, ready, stream_);
  }
  sample.enqueue_us = us_since(clock_, enqueued);
  const Problem recorded = checked(driver_.cuEventRecord(end->get(), stream_), "cuEventRecord");
  *flag = 1;
  const Seconds opened = clock_.now();
  if (result != CUDA_SUCCESS) faults = {fault_of(driver_, result, "a timed chain")};
  if (faults.empty()) faults = finish("a timed chain", seconds);
  sample.wall_us = us_since(clock_, opened);
  if (!faults.empty() || recorded) return recorded;
  float milliseconds = 0;
  if (auto problem = checked(driver_.cuEventElapsedTime(&milliseconds, begin->get(), end->get()), "cuEventElapsedTime")) return problem;
  sample.device_us = static_cast<double>(milliseconds) * 1e3;
  return std::nullopt;
}

sandbox::TimeReply CudaCandidate::time(const sandbox::TimeJob& job) {
  sandbox::TimeReply reply;
  std::vector<Chain> chains(job.chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (auto problem = make_chain(job.chains[i], job.graph, chains[i], reply.faults)) return reply.problem = *problem, reply;
    if (!reply.faults.empty()) return reply;
  }
  const Seconds start = clock_.now();
  for (const std::uint32_t index : job.order) {
    if (job.seconds_max > 0 && (clock_.now() - start).count() > job.seconds_max) break;
    if (index >= chains.size()) return reply.problem = "the order names a chain that is not there", reply;
    ChainSample sample;
    sample.chain = index;
    Problem problem = restore(chains[index], job.cold);
    if (!problem) problem = run_gated(chains[index], kChainS, sample, reply.faults);
    if (!reply.faults.empty()) return reply;
    const cuda::Health health = device_.health();
    sample.clocks = {health.sm_mhz, health.memory_mhz, health.power_mw, health.temperature_c, health.throttle_reasons};
    for (const sandbox::BufferRead& order : job.chains[index].reads)
      if (!problem) problem = read(order, sample.reads);
    if (problem) return reply.problem = *problem, reply;
    reply.samples.push_back(std::move(sample));
  }
  return reply;
}

sandbox::CountReply CudaCandidate::count(const sandbox::CountJob& job) {
  sandbox::CountReply reply;
  if (!recorder_) return reply.problem = recorder_.error().message, reply;
  Chain chain;
  if (auto problem = make_chain(job.chain, false, chain, reply.faults)) return reply.problem = *problem, reply;
  if (reply.faults.empty())
    if (auto problem = restore(chain, false)) return reply.problem = *problem, reply;
  if (!reply.faults.empty()) return reply;
  if (auto started = recorder_->start(); !started) return reply.problem = started.error().message, reply;
  CUresult result = CUDA_SUCCESS;
  for (const ReadyLaunch& ready : chain.launches)
    if (result == CUDA_SUCCESS) result = launch(driver_, ready, stream_);
  if (result != CUDA_SUCCESS) reply.faults = {fault_of(driver_, result, "a counted chain")};
  if (reply.faults.empty()) reply.faults = finish("a counted chain", kChainS);
  if (!reply.faults.empty()) return reply;
  auto activity = recorder_->stop();
  if (!activity) return reply.problem = activity.error().message, reply;
  if (activity->kernels.empty()) return reply.problem = "CUPTI recorded no kernel although some ran", reply;
  reply.kernels = static_cast<std::uint32_t>(activity->kernels.size());
  reply.graphs = activity->graphs, reply.memcpys = activity->memcpys, reply.memsets = activity->memsets;
  reply.kernel_us = std::move(activity->kernel_us);
  for (std::string& name : activity->kernels)
    if (std::ranges::find(reply.names, name) == reply.names.end()) reply.names.push_back(std::move(name));
  return reply;
}

}  // namespace onelaunch::worker
