#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/microbench.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "sandbox/host/measure.h"
#include "sandbox/host/microbench_kernels.h"

namespace onelaunch::sandbox {
namespace {

constexpr const char* kData = "microbench data";
constexpr const char* kSink = "microbench sink";
constexpr const char* kSync = "microbench sync";
constexpr std::uint64_t kSinkBytes = 256, kSyncBytes = 256;
constexpr std::uint64_t kMiB = 1u << 20, kGiB = 1u << 30;
constexpr std::uint64_t kDataMax = 4 * kGiB;      // far beyond any L2, a millisecond on a fast device
constexpr std::uint64_t kDataShare = 4;           // at most a fourth of the free memory
constexpr std::uint32_t kResidentRounds = 64;
constexpr std::uint32_t kLaunchesMax = 400;       // of a chain, below what fits behind the worker's gate
constexpr double kSetUpS = 30, kJobS = 30;
constexpr int kFewSamples = 7;
constexpr int kBulkCopyTarget = 90;               // sm_90

// 90 of "sm_90a".
int number_of(const std::string& target) {
  return target.starts_with("sm_") ? std::atoi(target.c_str() + 3) : 0;
}

ReadMethod ring_method(const DeviceFacts& facts) {
  ReadMethod ring{.name = "bulk copy ring, evict_first", .entry = kReadRing, .block = kRingBlock};
  // One slot's worth of the block's shared memory is left for its barriers.
  const std::uint64_t fit = facts.shared_per_block / kRingSlotBytes;
  ring.slots = static_cast<unsigned>(std::min<std::uint64_t>(kRingSlotsMax, fit > 0 ? fit - 1 : 0));
  ring.dynamic_smem = std::uint64_t{ring.slots} * kRingSlotBytes;
  if (number_of(facts.target) < kBulkCopyTarget)
    ring.skipped = "bulk copies need sm_90 or newer, this is " + facts.target;
  else if (ring.slots < 2)
    ring.skipped = "a block's shared memory is too small for it";
  return ring;
}

std::uint64_t whole_slots(std::uint64_t bytes) { return std::max<std::uint64_t>(1, bytes / kRingSlotBytes) * kRingSlotBytes; }

LaunchOrder order_of(const std::string& entry, std::uint64_t grid, std::uint64_t block) {
  LaunchOrder order = own_order(kMicrobenchModule, entry, 0);
  order.grid = grid, order.block = block;
  return order;
}

template <class Value>
void put(std::string& parameters, Value value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  parameters.append(bytes, sizeof value);
}

void put_address(LaunchOrder& order, const char* buffer, std::uint64_t addend) {
  order.relocations.push_back({order.parameters.size(), buffer, addend});
  put(order.parameters, std::uint64_t{0});
}

class Microbench {
 public:
  Microbench(DeviceSession& session, const DeviceFacts& facts, const MicrobenchPlan& plan, Deadline deadline)
      : session_(session), plan_(plan), deadline_(deadline) {
    found_.device = facts.name, found_.target = facts.target;
    found_.uuid = facts.uuid, found_.driver_version = facts.driver_version;
    found_.complete = plan.complete;
    found_.samples = plan.samples;
  }

  Result<Ceilings> measure(const MicrobenchModules& modules) {
    if (auto done = set_up(modules); !done) return because(done.error());
    for (const Footprint& footprint : plan_.footprints) {
      sums_.clear();
      for (const ReadMethod& method : plan_.methods)
        if (auto done = read(method, footprint); !done) return because(done.error(), method.name);
    }
    for (const int blocks : plan_.barrier_blocks_per_sm)
      if (auto done = wait_at_barriers(blocks); !done) return because(done.error(), "grid barriers");
    if (auto done = launch_nothing(); !done) return because(done.error(), "empty launches");
    if (found_.stream_tb_s <= 0) return fail(Error::Kind::internal, "no way of reading memory could be measured");
    return std::move(found_);
  }

 private:
  using Samples = std::vector<std::vector<ChainSample>>;  // by chain, without those of the warm-up

  std::uint64_t blocks(unsigned per_sm) const { return static_cast<std::uint64_t>(plan_.sms) * per_sm; }

  Result<void> set_up(const MicrobenchModules& modules) {
    SetupJob job;
    job.target = found_.target;
    job.modules = {modules.microbench, modules.harness};
    job.buffers = {{kData, plan_.data_bytes(), false, 0}, {kSink, kSinkBytes, false, 0}, {kSync, kSyncBytes, false, 0}};
    auto said = session_.set_up(job, -1, deadline_, kSetUpS);
    if (!said) return because(said.error());
    if (const Outcome* outcome = std::get_if<Outcome>(&*said)) return unavailable(explain(*outcome));
    RunJob noise;
    LaunchOrder fill = order_of(kFillData, blocks(kReadBlocksPerSm), kReadBlock);
    put_address(fill, kData, 0);
    put(fill.parameters, plan_.data_bytes() / 16);
    noise.launches.push_back(std::move(fill));
    auto filled = session_.run(std::move(noise), deadline_, kSetUpS, {});
    if (!filled) return because(filled.error());
    if (const Outcome* outcome = std::get_if<Outcome>(&*filled)) return unavailable(explain(*outcome));
    return {};
  }

  // All chains in turns. Nothing when the device does not implement a kernel, which then is the reason.
  Result<std::optional<Samples>> time(std::vector<TimedChain> chains, std::string& reason) {
    TimeJob job;
    job.chains = std::move(chains);
    for (int i = 0; i < plan_.warm_up + plan_.samples; ++i)
      for (std::uint32_t chain = 0; chain < job.chains.size(); ++chain) job.order.push_back(chain);
    job.seconds_max = kJobS;
    const std::size_t count = job.chains.size(), wanted = job.order.size();
    auto said = session_.time(std::move(job), deadline_);
    if (!said) return because(said.error());
    if (const Outcome* outcome = std::get_if<Outcome>(&*said)) {
      if (!std::holds_alternative<Refused>(*outcome)) return unavailable(explain(*outcome));
      reason = explain(*outcome);
      return std::optional<Samples>();
    }
    TimeReply& reply = std::get<TimeReply>(*said);
    if (reply.samples.size() != wanted) return unavailable("this took longer than " + std::to_string(kJobS) + " s");
    Samples samples(count);
    for (std::size_t i = count * static_cast<std::size_t>(plan_.warm_up); i < reply.samples.size(); ++i) {
      see_clocks(found_.clocks, reply.samples[i].clocks);
      samples[reply.samples[i].chain].push_back(std::move(reply.samples[i]));
    }
    return std::optional<Samples>(std::move(samples));
  }

  static double median_us(const std::vector<ChainSample>& samples, double ChainSample::* us) {
    std::vector<double> values;
    for (const ChainSample& sample : samples) values.push_back(sample.*us);
    return median_of(std::move(values));
  }

  TimedChain reading(const ReadMethod& method, const Footprint& footprint) const {
    TimedChain chain;
    chain.fills.push_back({kSink, false, 0});
    for (std::uint32_t i = 0; i < footprint.launches; ++i) {
      LaunchOrder order = order_of(method.entry, blocks(method.blocks_per_sm), method.block);
      order.dynamic_smem = method.dynamic_smem;
      put_address(order, kData, i * footprint.bytes);
      put(order.parameters, footprint.bytes / 16);
      put(order.parameters, footprint.rounds);
      put(order.parameters, std::uint32_t{method.slots});
      put_address(order, kSink, 0);
      chain.launches.push_back(std::move(order));
    }
    chain.reads.push_back({kSink, 0, 4, false});
    return chain;
  }

  Result<void> read(const ReadMethod& method, const Footprint& footprint) {
    StreamRate rate{.name = method.name, .footprint_bytes = footprint.bytes, .resident = footprint.resident, .skipped = method.skipped};
    if (rate.skipped.empty()) {
      auto samples = time({reading(method, footprint)}, rate.skipped);
      if (!samples) return because(samples.error());
      if (*samples) {
        if (auto same = compare_sums((*samples)->front()); !same) return same;
        const double us = median_us((*samples)->front(), &ChainSample::device_us);
        const double bytes = static_cast<double>(footprint.bytes) * footprint.launches * footprint.rounds;
        rate.tb_s = us > 0 ? bytes / us * 1e-6 : 0;
        if (!footprint.resident) found_.stream_tb_s = std::max(found_.stream_tb_s, rate.tb_s);
      }
    }
    found_.methods.push_back(std::move(rate));
    return {};
  }

  // Every run of every method on one footprint adds up the same words.
  Result<void> compare_sums(const std::vector<ChainSample>& samples) {
    for (const ChainSample& sample : samples) sums_[sample.reads.front()]++;
    if (sums_.size() == 1 && sums_.begin()->first != std::string(4, '\0')) return {};
    return fail(Error::Kind::internal, "the microbenchmarks did not all read the same data");
  }

  TimedChain at_barriers(int blocks_per_sm, std::uint32_t count) const {
    LaunchOrder order = order_of(kBarriers, blocks(static_cast<unsigned>(blocks_per_sm)), kBarrierBlock);
    order.cooperative = true;
    put_address(order, kSync, 0);
    put(order.parameters, count);
    TimedChain chain;
    chain.fills.push_back({kSync, false, 0});
    chain.launches.push_back(std::move(order));
    return chain;
  }

  // What more barriers in the same launch take.
  Result<void> wait_at_barriers(int blocks_per_sm) {
    const std::uint32_t few = plan_.barriers / 8, many = few + plan_.barriers;
    BarrierTime barrier{.blocks_per_sm = blocks_per_sm};
    auto samples = time({at_barriers(blocks_per_sm, few), at_barriers(blocks_per_sm, many)}, barrier.skipped);
    if (!samples) return because(samples.error());
    if (*samples) {
      const double more_us = median_us((**samples)[1], &ChainSample::device_us) - median_us((**samples)[0], &ChainSample::device_us);
      barrier.us = std::max(0.0, more_us / plan_.barriers);
      if (blocks_per_sm == 1) found_.grid_barrier_us = barrier.us;
    }
    found_.barriers.push_back(std::move(barrier));
    return {};
  }

  Result<void> launch_nothing() {
    TimedChain chain;
    for (std::uint32_t i = 0; i < plan_.launches; ++i) {
      LaunchOrder order = order_of(kNothing, blocks(1), kBarrierBlock);
      order.cooperative = true;
      put_address(order, kSync, 0);
      chain.launches.push_back(std::move(order));
    }
    std::string reason;
    auto samples = time({std::move(chain)}, reason);
    if (!samples) return because(samples.error());
    if (!*samples) return unavailable(reason);
    found_.launch_us = median_us((*samples)->front(), &ChainSample::device_us) / plan_.launches;
    found_.enqueue_us = median_us((*samples)->front(), &ChainSample::enqueue_us) / plan_.launches;
    return {};
  }

  DeviceSession& session_;
  const MicrobenchPlan& plan_;
  const Deadline deadline_;
  std::map<std::string, int> sums_;  // that came out of the footprint at hand
  Ceilings found_;
};

}  // namespace

std::uint64_t MicrobenchPlan::data_bytes() const {
  std::uint64_t most = kRingSlotBytes;
  for (const Footprint& footprint : footprints) most = std::max(most, footprint.bytes * footprint.launches);
  return most;
}

MicrobenchPlan microbench_plan(const DeviceFacts& facts, bool complete) {
  MicrobenchPlan plan;
  plan.complete = complete;
  plan.sms = std::max(1, facts.sms);
  const ReadMethod plain{.name = "16-byte loads", .entry = kReadPlain, .block = kReadBlock, .blocks_per_sm = kReadBlocksPerSm};
  const ReadMethod first{.name = "16-byte loads, no_allocate, evict_first", .entry = kReadEvictFirst, .block = kReadBlock, .blocks_per_sm = kReadBlocksPerSm};
  const ReadMethod ring = ring_method(facts);
  plan.methods = {plain, first, ring};
  if (!complete) plan.methods = ring.skipped.empty() ? std::vector{first, ring} : std::vector{plain, first};
  const std::uint64_t data = whole_slots(std::min(kDataMax, facts.memory_free_bytes / kDataShare));
  const auto add = [&](std::uint64_t bytes) {
    const std::uint64_t launches = std::clamp<std::uint64_t>(data / bytes, 1, kLaunchesMax);
    plan.footprints.push_back({.bytes = bytes, .launches = static_cast<std::uint32_t>(launches)});
  };
  if (complete)
    for (const std::uint64_t bytes : {256 * kMiB, kGiB})
      if (bytes < data) add(bytes);
  add(data);
  if (!complete) return plan.samples = kFewSamples, plan;
  if (facts.l2_bytes > 0)
    plan.footprints.push_back({.bytes = whole_slots(std::min(facts.l2_bytes / 2, data)), .launches = 1, .rounds = kResidentRounds, .resident = true});
  plan.barrier_blocks_per_sm = {1, 2};
  return plan;
}

Result<Ceilings> run_microbench(DeviceSession& session, const MicrobenchModules& modules, const DeviceFacts& facts,
                                const MicrobenchPlan& plan, const Clock& clock, Deadline deadline) {
  auto ceilings = Microbench(session, facts, plan, deadline).measure(modules);
  if (!ceilings) return because(ceilings.error(), "measuring the device's ceilings");
  ceilings->measured_at = clock.utc_now();
  return ceilings;
}

}  // namespace onelaunch::sandbox
