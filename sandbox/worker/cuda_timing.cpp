// Timed and counted chains of CudaCandidate.
#include <algorithm>

#include "sandbox/worker/cuda_candidate.h"

namespace onelaunch::worker {

using sandbox::ChainSample;

namespace {

constexpr double kChainS = 5;          // one run of a chain; its launches take milliseconds
constexpr double kEnqueueS = cuda::Gate::kTimeoutS / 2;
constexpr int kAttempts = 3;           // at a run whose launches the host was too slow to enqueue

double us_since(const Clock& clock, Seconds start) { return (clock.now() - start).count() * 1e6; }

Ended ours(Problem problem) {
  Ended ended;
  ended.problem = std::move(problem);
  return ended;
}

sandbox::ClockState clocks_of(const cuda::Health& health) {
  return {health.sm_mhz, health.memory_mhz, health.power_mw, health.temperature_c, health.throttle_reasons};
}

}  // namespace

struct CudaCandidate::Chain {
  const sandbox::TimedChain* order = nullptr;
  Contents contents;
  std::vector<ReadyLaunch> launches;
  std::optional<cuda::Graph> graph;
  std::string name;                    // of its kernel, or its first
};

Ended CudaCandidate::make_chain(const sandbox::TimedChain& order, bool graph, Chain& chain) {
  if (!stream_) return ours("nothing is set up");
  if (order.launches.empty()) return ours("a chain without launches");
  if (order.launches.size() > cuda::Gate::kLaunchesMax)
    return ours("a chain of " + std::to_string(order.launches.size()) + " launches; at most " +
                std::to_string(cuda::Gate::kLaunchesMax) + " can wait behind a gate");
  chain.order = &order;
  chain.contents = buffers_.contents(order);
  chain.name = order.launches.front().entry + ", launched " + std::to_string(order.launches.size()) + " times in a chain";
  for (const sandbox::LaunchOrder& launch : order.launches) {
    if (auto problem = make_ready(launch, chain.launches.emplace_back())) return ours(std::move(problem));
    if (Ended ended = noted(permit(device_, chain.launches.back())); !ended.well()) return ended;
  }
  return ours(graph ? capture(chain) : std::nullopt);
}

Problem CudaCandidate::capture(Chain& chain) {
  const CUstream stream = stream_->get();
  if (auto problem = checked(driver_.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture")) return problem;
  Problem problem = checked(enqueue(chain), "capturing a launch");
  CUgraph graph = nullptr;
  const Problem ended = checked(driver_.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  if (problem || ended) return problem ? problem : ended;
  CUgraphExec executable = nullptr;
  problem = checked(driver_.cuGraphInstantiate(&executable, graph, 0), "cuGraphInstantiate");
  driver_.cuGraphDestroy(graph);
  if (problem) return problem;
  chain.graph.emplace(driver_, executable);
  return checked(driver_.cuGraphUpload(executable, stream), "cuGraphUpload");
}

Problem CudaCandidate::restore(const Chain& chain, bool cold) {
  if (auto problem = buffers_.put(chain.contents, stream_->get())) return problem;
  if (cold)
    if (auto swept = tools_->sweep.enqueue(stream_->get()); !swept) return swept.error().message;
  return checked(driver_.cuStreamSynchronize(stream_->get()), "cuStreamSynchronize");
}

CUresult CudaCandidate::enqueue(const Chain& chain) {
  if (chain.graph) return driver_.cuGraphLaunch(chain.graph->get(), stream_->get());
  for (const ReadyLaunch& ready : chain.launches)
    if (const CUresult result = launch(driver_, ready, stream_->get()); result != CUDA_SUCCESS) return result;
  return CUDA_SUCCESS;
}

// Nothing but the launches stands between the two events.
Ended CudaCandidate::run_gated(const Chain& chain, ChainSample& sample, bool& gate_held) {
  const CUstream stream = stream_->get();
  const Seconds closed = clock_.now();
  if (auto done = tools_->gate.close(stream); !done) return ours(done.error().message);
  const CUresult began = driver_.cuEventRecord(tools_->begin.get(), stream);
  const Seconds enqueuing = clock_.now();
  const CUresult result = enqueue(chain);
  sample.enqueue_us = us_since(clock_, enqueuing);
  const CUresult recorded = driver_.cuEventRecord(tools_->end.get(), stream);
  tools_->gate.open();
  const Seconds opened = clock_.now();
  Ended ended = finish(chain.name, kChainS);
  sample.wall_us = us_since(clock_, opened);
  gate_held = (opened - closed).count() < kEnqueueS;
  if (Ended enqueued = noted(ended_with(driver_, result, chain.name)); ended.well()) ended = std::move(enqueued);
  if (!ended.well()) return ended;
  if (auto problem = checked(began != CUDA_SUCCESS ? began : recorded, "cuEventRecord")) return ours(std::move(problem));
  float milliseconds = 0;
  auto problem = checked(driver_.cuEventElapsedTime(&milliseconds, tools_->begin.get(), tools_->end.get()), "cuEventElapsedTime");
  sample.device_us = static_cast<double>(milliseconds) * 1e3;
  return ours(std::move(problem));
}

Ended CudaCandidate::sample(const Chain& chain, bool cold, ChainSample& sample) {
  bool gate_held = false;
  for (int attempt = 0; attempt < kAttempts && !gate_held; ++attempt) {
    if (auto problem = restore(chain, cold)) return ours(std::move(problem));
    if (Ended ended = run_gated(chain, sample, gate_held); !ended.well()) return ended;
  }
  if (!gate_held) return ours("this machine was too busy to enqueue the launches of a chain within " + std::to_string(kEnqueueS) + " s");
  sample.clocks = clocks_of(device_.health());
  return ours(buffers_.read(chain.order->reads, sample.reads));
}

sandbox::TimeReply CudaCandidate::time(const sandbox::TimeJob& job) {
  sandbox::TimeReply reply;
  const auto keep = [&reply](Ended ended) {
    reply.problem = ended.problem.value_or("");
    reply.faults = std::move(ended.faults);
    return reply.problem.empty() && reply.faults.empty();
  };
  if (!tools_) return reply.problem = "the harness's own kernels were not loaded", reply;
  std::vector<Chain> chains(job.chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i)
    if (!keep(make_chain(job.chains[i], job.graph, chains[i]))) return reply;
  const Seconds start = clock_.now();
  for (const std::uint32_t index : job.order) {
    if (job.seconds_max > 0 && (clock_.now() - start).count() > job.seconds_max) break;
    if (index >= chains.size()) return reply.problem = "the order names a chain that is not there", reply;
    ChainSample taken;
    taken.chain = index;
    if (!keep(sample(chains[index], job.cold, taken))) return reply;
    reply.samples.push_back(std::move(taken));
  }
  if (auto problem = buffers_.check_slack(cuda::GuardedBuffer::Slack::near, "a timed chain", reply.faults)) reply.problem = *problem;
  bool ignored = false;
  printed_.take(ignored);  // of no launch that the host could name
  return reply;
}

Ended CudaCandidate::run_counted(const Chain& chain, cuda::Activity& activity) {
  if (auto started = recorder_->start(); !started) return ours(started.error().message);
  Ended ended = noted(ended_with(driver_, enqueue(chain), chain.name));
  if (Ended finished = finish(chain.name, kChainS); ended.well()) ended = std::move(finished);
  if (!ended.well()) return ended;
  if (auto problem = checked(driver_.cuCtxSynchronize(), "cuCtxSynchronize")) return ours(std::move(problem));
  auto recorded = recorder_->stop();
  if (!recorded) return ours(recorded.error().message);
  if (recorded->kernels.empty()) return ours("CUPTI recorded no kernel although some ran");
  activity = std::move(*recorded);
  return {};
}

sandbox::CountReply CudaCandidate::count(const sandbox::CountJob& job) {
  sandbox::CountReply reply;
  if (!recorder_) return reply.problem = recorder_.error().message, reply;
  Chain chain;
  cuda::Activity activity;
  Ended ended = make_chain(job.chain, false, chain);
  if (ended.well()) ended.problem = restore(chain, false);
  if (ended.well()) ended = run_counted(chain, activity);
  // Once in a candidate's life, so all of the slack.
  if (ended.well()) ended.problem = buffers_.check_slack(cuda::GuardedBuffer::Slack::whole, "a counted chain", ended.faults);
  if (!ended.well()) return reply.problem = ended.problem.value_or(""), reply.faults = std::move(ended.faults), reply;
  reply.kernels = static_cast<std::uint32_t>(activity.kernels.size());
  reply.graphs = activity.graphs, reply.memcpys = activity.memcpys, reply.memsets = activity.memsets;
  reply.kernel_us = std::move(activity.kernel_us);
  for (std::string& name : activity.kernels)
    if (std::ranges::find(reply.names, name) == reply.names.end()) reply.names.push_back(std::move(name));
  return reply;
}

}  // namespace onelaunch::worker
