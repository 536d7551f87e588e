#include "sandbox/host/gpu_timer.h"

#include <algorithm>
#include <cmath>

#include "sandbox/host/measure.h"

namespace onelaunch::sandbox {
namespace {

using tasks::InputSet;

constexpr int kProbeSteps = 8, kProbeChains = 3, kProbeWarmUp = 2, kWarmUpChains = 3, kStrictChains = 7, kLoopChains = 7, kColdChains = 7;
constexpr double kTimingS = 20;        // any one batch of chains; far more than it takes
constexpr double kBetweenChainsUs = 700;
constexpr int kPairsMin = 8, kPairsMax = 400;
constexpr std::uint64_t kCaseStream = 4000, kRunStream = 4100;

std::vector<TimedSpec> specs(const TimerPlan& plan) {
  std::vector<TimedSpec> all;
  for (const std::int64_t context : plan.contexts)
    for (const InputSet inputs : {InputSet::nominal, InputSet::strict})
      all.push_back({inputs, context, derived_seed(plan.seed, kCaseStream + all.size())});
  return all;
}

// Per token, of the runs of one chain.
std::vector<double> per_token(const std::vector<ChainSample>& samples, int length, double ChainSample::* us) {
  std::vector<double> values;
  for (const ChainSample& sample : samples) values.push_back(sample.*us / length);
  return values;
}

void add_clocks(DeviceTimes& device, const std::vector<ChainSample>& samples) {
  for (const ChainSample& sample : samples) see_clocks(device, sample.clocks);
}

}  // namespace

GpuTimer::GpuTimer(const tasks::Task& task, const GpuLayout& layout, const std::vector<GpuArm>& arms,
                   std::vector<CandidateRun>& runs, DeviceSession& session, Reference& reference, TimerPlan plan,
                   Deadline deadline)
    : task_(task),
      layout_(layout),
      arms_(arms),
      runs_(runs),
      session_(session),
      reference_(reference),
      plan_(std::move(plan)),
      deadline_(deadline) {
  for (const TimedSpec& spec : specs(plan_)) cases_.emplace_back(task, spec);
}

std::vector<BufferSpec> GpuTimer::buffers(const tasks::Task& task, const std::vector<GpuArm>& arms, const TimerPlan& plan) {
  std::vector<BufferSpec> buffers = timed_workspace(arms);
  for (BufferSpec& buffer : TimedCase::output_buffers(task)) buffers.push_back(std::move(buffer));
  for (const TimedSpec& spec : specs(plan))
    for (BufferSpec& buffer : TimedCase(task, spec).buffers()) buffers.push_back(std::move(buffer));
  return buffers;
}

Step GpuTimer::expect_and_upload(TimedCase& of, int length) {
  if (auto expected = of.expect(reference_, length, layout_.sets()); !expected) return because(expected.error());
  for (RunJob& job : of.uploads()) {
    auto said = session_.run(std::move(job), deadline_, kTimingS, {});
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  }
  return std::nullopt;
}

Step GpuTimer::run(std::vector<Timed>& chains, const std::vector<std::size_t>& arm_of, std::vector<std::uint32_t> order,
                   bool cold, double seconds_max) {
  TimeJob job;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const TimedCase& of = cases_[chains[i].of];
    const std::size_t arm = arm_of[i];
    const std::uint64_t poison = derived_seed(of.spec().seed, kRunStream + i);
    job.chains.push_back(of.chain(layout_, arms_[arm].timed(runs_[arm], of), chains[i].loop, chains[i].length, poison));
    reset_workspace(arms_, poison, job.chains.back().fills);
  }
  job.order = std::move(order);
  job.cold = cold;
  job.seconds_max = seconds_max;
  auto said = session_.time(std::move(job), deadline_);
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  for (ChainSample& sample : std::get<TimeReply>(*said).samples) {
    Timed& chain = chains[sample.chain];
    if (arm_of[sample.chain] == 0)
      if (auto step = check(chain, sample); !step || *step) return step;
    sample.reads.clear();
    chain.samples.push_back(std::move(sample));
  }
  return std::nullopt;
}

Step GpuTimer::check(const Timed& chain, const ChainSample& sample) {
  const TimedCase& of = cases_[chain.of];
  const GatePlace place{of.spec().context, chain.length, of.spec().seed, of.spec().inputs == InputSet::strict};
  if (!report_.add(of.judge(sample.reads, chain.loop), place))
    return WrongAnswer{"in a timed chain: " + report_.first_failure()};
  return std::nullopt;
}

Step GpuTimer::check_states(std::size_t index) {
  const TimedCase& of = cases_[index];
  RunJob job;
  job.reads = of.state_reads();
  if (job.reads.empty()) return std::nullopt;
  auto said = session_.run(std::move(job), deadline_, kTimingS, {});
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  const GatePlace place{of.spec().context, length_, of.spec().seed, of.spec().inputs == InputSet::strict};
  if (!report_.add(of.judge_states(std::get<RunReply>(*said).reads), place))
    return WrongAnswer{"after a timed chain: " + report_.first_failure()};
  return std::nullopt;
}

Step GpuTimer::choose_length() {
  const int steps = std::min(kProbeSteps, layout_.sets());
  if (auto step = expect_and_upload(cases_.front(), steps); !step || *step) return step;
  std::vector<Timed> probe{{.of = 0, .loop = TimedCase::Loop::rotated, .length = steps, .samples = {}}};
  const std::vector<std::uint32_t> order(kProbeWarmUp + kProbeChains, 0);
  if (auto step = run(probe, {0}, order, false, kTimingS); !step || *step) return step;
  if (std::ssize(probe[0].samples) <= kProbeWarmUp) return unavailable("timing took longer than its limit");
  probe[0].samples.erase(probe[0].samples.begin(), probe[0].samples.begin() + kProbeWarmUp);
  const Measurement look = primary(probe[0]);
  estimate_us_ = look.us_median;
  if (plan_.stop_above_us && estimate_us_ > *plan_.stop_above_us) {
    gave_up_ = true;
    times_ = {look};
    return std::nullopt;
  }
  // Whole rounds of the weight sets, so that each counts alike.
  const int sets = std::min(layout_.sets(), kChainLengthMax);
  const int rounds = static_cast<int>(std::ceil(plan_.chain_us / std::max(estimate_us_, 1.0) / sets));
  length_ = std::clamp(rounds * sets, sets, kChainLengthMax / sets * sets);
  return std::nullopt;
}

Measurement GpuTimer::primary(const Timed& timed) const {
  Measurement time;
  time.modelled = false;
  time.context = cases_[timed.of].spec().context;
  time.raw_us = per_token(timed.samples, timed.length, &ChainSample::device_us);
  time.n = static_cast<int>(time.raw_us.size());
  time.us_median = median_of(time.raw_us);
  time.us_low = *std::ranges::min_element(time.raw_us);
  time.us_high = *std::ranges::max_element(time.raw_us);
  return time;
}

Step GpuTimer::solo(std::vector<Timed>& rotated, std::vector<Timed>& loops, std::vector<Timed>& cold) {
  std::vector<std::uint32_t> order, loop_order, cold_order;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const bool nominal = cases_[i].spec().inputs == InputSet::nominal;
    rotated.push_back({.of = i, .loop = TimedCase::Loop::rotated, .length = length_, .samples = {}});
    if (!nominal || !plan_.all_times) continue;
    loop_order.insert(loop_order.end(), kWarmUpChains + kLoopChains, static_cast<std::uint32_t>(loops.size()));
    cold_order.insert(cold_order.end(), kColdChains, static_cast<std::uint32_t>(cold.size()));
    loops.push_back({.of = i, .loop = TimedCase::Loop::single_set, .length = length_, .samples = {}});
    cold.push_back({.of = i, .loop = TimedCase::Loop::rotated, .length = 1, .samples = {}});
  }
  // In turns, as beside another kernel: what was used long ago is in no cache.
  for (int round = 0; round < kWarmUpChains + std::max(plan_.solo_chains, kStrictChains); ++round)
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const bool nominal = cases_[i].spec().inputs == InputSet::nominal;
      if (round < kWarmUpChains + (nominal ? plan_.solo_chains : kStrictChains)) order.push_back(static_cast<std::uint32_t>(i));
    }
  const std::vector<std::size_t> candidate(cases_.size(), 0);
  if (plan_.all_times) {
    if (auto step = run(cold, candidate, cold_order, true, kTimingS); !step || *step) return step;
    if (auto step = run(loops, candidate, loop_order, false, kTimingS); !step || *step) return step;
  }
  if (auto step = run(rotated, candidate, order, false, kTimingS); !step || *step) return step;
  for (std::vector<Timed>* warmed : {&rotated, &loops})
    for (Timed& chain : *warmed) {
      if (std::ssize(chain.samples) <= kWarmUpChains) return unavailable("timing took longer than its limit");
      chain.samples.erase(chain.samples.begin(), chain.samples.begin() + kWarmUpChains);
    }
  // The last chain of a case left its states behind: one of them is compared, whichever the seed says.
  return check_states(static_cast<std::size_t>(derived_seed(plan_.seed, kRunStream) % cases_.size()));
}

Measurement GpuTimer::measurement(std::size_t of, const std::vector<Timed>& rotated, const std::vector<Timed>& loops,
                                  const std::vector<Timed>& cold) const {
  const std::vector<ChainSample>& samples = rotated[of].samples;
  Measurement time = primary(rotated[of]);
  DeviceTimes device;
  device.wall_us = median_of(per_token(samples, length_, &ChainSample::wall_us));
  device.enqueue_us = median_of(per_token(samples, length_, &ChainSample::enqueue_us));
  if (plan_.all_times) {
    device.token_loop_us = median_of(per_token(loops[of / 2].samples, length_, &ChainSample::device_us));
    device.cold_us = median_of(per_token(cold[of / 2].samples, 1, &ChainSample::device_us));
  }
  const std::vector<ChainSample>& strict = rotated[of + 1].samples;
  device.strict_over_nominal = median_of(per_token(strict, length_, &ChainSample::device_us)) / time.us_median;
  add_clocks(device, samples);
  add_clocks(device, strict);
  time.device = device;
  return time;
}

Step GpuTimer::measure() {
  if (auto step = choose_length(); !step || *step || gave_up_) return step;
  for (TimedCase& of : cases_)
    if (auto step = expect_and_upload(of, length_); !step || *step) return step;
  std::vector<Timed> rotated, loops, cold;
  if (auto step = solo(rotated, loops, cold); !step || *step) return step;
  for (std::size_t i = 0; i < cases_.size(); i += 2) {
    times_.push_back(measurement(i, rotated, loops, cold));
    Measurement strict = times_.back();
    strict.us_median *= strict.device->strict_over_nominal;
    apply_strict(times_, strict);
  }
  return std::nullopt;
}

Step GpuTimer::count() {
  CountJob job;
  job.chain = cases_.front().chain(layout_, arms_.front().timed(runs_.front(), cases_.front()), TimedCase::Loop::rotated,
                                   length_, plan_.seed);
  reset_workspace(arms_, plan_.seed, job.chain.fills);
  auto said = session_.count(job, deadline_, kTimingS);
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  const CountReply& counted = std::get<CountReply>(*said);
  for (Measurement& time : times_) time.device->launches = static_cast<double>(counted.kernels) / length_;
  if (counted.kernels == static_cast<std::uint32_t>(length_) && counted.graphs + counted.memcpys + counted.memsets == 0)
    return std::nullopt;
  return Outcome(Refused{"launch_count", std::to_string(length_) + " tokens took " + std::to_string(counted.kernels) +
                                             " kernels, " + std::to_string(counted.graphs) + " graphs, " +
                                             std::to_string(counted.memcpys) + " copies and " +
                                             std::to_string(counted.memsets) + " fills on the device; one kernel a token is allowed"});
}

// Rounds over all cases; in each the candidate (c) and the other arm (a) run as c a a c or a c c a. Chain 2i is the
// candidate's of case i, chain 2i + 1 the other's.
std::vector<std::uint32_t> GpuTimer::pair_order() const {
  const double chain_us = estimate_us_ * length_ + kBetweenChainsUs;
  const double pairs = plan_.pair_s * 1e6 / (2 * chain_us * static_cast<double>(cases_.size()));
  const int rounds = (std::clamp(static_cast<int>(pairs), kPairsMin, kPairsMax) + 1) / 2;
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < cases_.size(); ++i)
    for (int warm = 0; warm < 2; ++warm)
      for (const std::size_t arm : {0u, 1u}) order.push_back(static_cast<std::uint32_t>(2 * i + arm));
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const std::uint64_t first = derived_seed(plan_.seed, kRunStream + 1 + static_cast<std::uint64_t>(round) * cases_.size() + i) & 1;
      for (const std::uint64_t arm : {first, 1 - first, 1 - first, first}) order.push_back(static_cast<std::uint32_t>(2 * i + arm));
    }
  return order;
}

Step GpuTimer::pair() {
  std::vector<Timed> chains;
  std::vector<std::size_t> arm_of;
  for (std::size_t i = 0; i < cases_.size(); ++i)
    for (const std::size_t arm : {0u, 1u}) {
      chains.push_back({.of = i, .loop = TimedCase::Loop::rotated, .length = length_, .samples = {}});
      arm_of.push_back(arm);
    }
  constexpr std::size_t kWarm = 2;
  if (auto step = run(chains, arm_of, pair_order(), false, kTimingS + plan_.pair_s); !step || *step) return step;
  for (std::size_t i = 0; i < cases_.size(); i += 2) {
    PairedTimes paired;
    paired.context = cases_[i].spec().context;
    const auto us = [&](std::size_t chain) { return per_token(chains[chain].samples, length_, &ChainSample::device_us); };
    const std::vector<double> all[4] = {us(2 * i), us(2 * i + 1), us(2 * i + 2), us(2 * i + 3)};
    const std::size_t n = std::min({all[0].size(), all[1].size(), all[2].size(), all[3].size()});
    for (std::size_t sample = kWarm; sample < n; ++sample)
      for (const std::size_t strict : {0u, 2u}) {
        paired.candidate_us.push_back(all[strict][sample]);
        paired.against_us.push_back(all[strict + 1][sample]);
      }
    pairs_.push_back(std::move(paired));
  }
  return std::nullopt;
}

}  // namespace onelaunch::sandbox
