#include "sandbox/host/profile_run.h"

#include <algorithm>
#include <cstring>

#include "sandbox/host/grade_plan.h"
#include "sandbox/host/static_gate.h"
#include "tasks/oracle.h"

namespace onelaunch::sandbox {
namespace {

constexpr const char* kStampBuffer = "profile stamps";
constexpr const char* kProbeBuffer = "probes";
constexpr int kWarmUp = 4, kEmulatedLaunches = 2, kLaunchesMax = 64;
constexpr std::uint64_t kWorkspaceStream = 9700;

void put_word(LaunchOrder& order, std::size_t index, std::uint64_t word) {
  std::memcpy(order.parameters.data() + index * sizeof word, &word, sizeof word);
}

LaunchOrder attach_stamps(std::uint64_t blocks, std::uint32_t launch) {
  LaunchOrder order = own_order(kCandidateModule, "ol_profile_attach", 3);
  order.relocations.push_back({0, kStampBuffer, 0});
  put_word(order, 1, stamp_capacity(blocks));
  put_word(order, 2, launch);
  return order;
}

}  // namespace

ProfilePlan plan_profile(const tasks::Task& task, const ProfileRequest& request, bool on_gpu, bool heavy) {
  ProfilePlan plan;
  plan.context = request.context.value_or(task.sweep.empty() ? 0 : task.sweep.front().context);
  plan.seed = request.seed.value_or(fresh_seed());
  plan.launches = std::clamp(request.launches, 1, on_gpu ? kLaunchesMax : kEmulatedLaunches);
  plan.warm_up = on_gpu ? kWarmUp : 0;
  if (heavy && !on_gpu) plan.launches = 1;
  plan.capacity = plan.context + plan.warm_up + plan.launches + 1;
  return plan;
}

BufferSpec ProfileRun::stamp_buffer(std::uint64_t blocks) { return {kStampBuffer, stamp_buffer_bytes(blocks), false, 0}; }
BufferSpec ProfileRun::probe_buffer(const ProbeTable& table) { return {kProbeBuffer, table.initial().size(), false, 0}; }

LaunchOrder ProfileRun::megakernel(const CallState& state) const {
  LaunchOrder order = orders_.order(state);
  redirect(order, redirections_);
  return order;
}

RunJob ProfileRun::fresh_workspace(std::uint64_t seed) const {
  RunJob job;
  if (candidate_.launch.scratch_bytes > 0) job.fills.push_back({kScratchBuffer, true, derived_seed(seed, kWorkspaceStream)});
  if (candidate_.launch.sync_bytes > 0) job.fills.push_back({kSyncBuffer, false, 0});
  return job;
}

Step ProfileRun::start(std::vector<RunJob> jobs) {
  for (RunJob& job : jobs) {
    auto said = run(std::move(job));
    if (!said) return because(said.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  }
  return std::nullopt;
}

Step ProfileRun::launch_all(const ProfilePlan& plan, Reference& reference, ProfiledLaunches& launches) {
  grid_blocks_ = grid_blocks(candidate_.launch.grid, bench_.device);
  Chain chain(bench_.task, reference,
              {{tasks::InputSet::nominal, plan.context, plan.capacity, plan.seed}, plan.warm_up + plan.launches, on_gpu_});
  auto begun = chain.begin();
  if (!begun) return because(begun.error());
  begun->push_back(fresh_workspace(plan.seed));
  if (auto step = start(std::move(*begun)); !step || *step) return step;
  for (int i = 0; i < plan.warm_up + plan.launches; ++i)
    if (auto step = launch(plan, chain, i, launches); !step || *step) return step;
  return std::nullopt;
}

Step ProfileRun::launch(const ProfilePlan& plan, Chain& chain, int number, ProfiledLaunches& launches) {
  auto inputs = chain.next_inputs();
  if (!inputs) return because(inputs.error());
  const auto tag = static_cast<std::uint32_t>(number + 1);
  RunJob job;
  job.writes = std::move(*inputs);
  if (plan.marked) job.launches.push_back(attach_stamps(blocks(), tag));
  job.launches.push_back(megakernel({chain.position(), plan.capacity, static_cast<std::uint64_t>(number)}));
  job.reads = chain.reads();
  job.reads.push_back({kStampBuffer, 0, blocks() * kStampBlockBytes, false});
  std::vector<std::string> reads;
  if (auto step = measure(std::move(job), launches, reads); !step || *step) return step;
  const std::string head = std::move(reads.back());
  reads.pop_back();
  if (auto expected = chain.expect(); !expected) return because(expected.error());
  for (const tasks::Finding& finding : chain.judge(reads))
    if (!finding.ok && launches.wrong.empty()) launches.wrong = finding.detail + " (step " + std::to_string(number) + ")";
  if (number < plan.warm_up) launches.launch_us.clear();
  return number < plan.warm_up || !plan.marked ? Step(std::nullopt) : read_stamps(head, tag, launches);
}

// On a GPU the megakernel alone lies between two events; the emulator says how long it takes.
Step ProfileRun::measure(RunJob job, ProfiledLaunches& launches, std::vector<std::string>& reads) {
  TimeJob timing;
  if (on_gpu_) {
    timing.chains.emplace_back();
    timing.chains.front().launches = {std::move(job.launches.back())};
    timing.chains.front().reads = std::exchange(job.reads, {});
    timing.order = {0};
    timing.seconds_max = bench_.limits.launch_s;
    timing.chains.front().launches.front().seconds_max = bench_.limits.launch_s;
    job.launches.pop_back();
  }
  auto ran = run(std::move(job));
  if (!ran) return because(ran.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*ran)) return std::move(*outcome);
  if (!on_gpu_) {
    RunReply& reply = std::get<RunReply>(*ran);
    launches.launch_us.push_back(reply.launches.back().total.us);
    launches.modelled = std::move(reply.launches.back().phases);
    reads = std::move(reply.reads);
    return std::nullopt;
  }
  auto timed = session_.time(std::move(timing), deadline_);
  if (!timed) return because(timed.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*timed)) return std::move(*outcome);
  TimeReply& reply = std::get<TimeReply>(*timed);
  if (reply.samples.empty()) return fail(Error::Kind::worker_lost, "the worker timed nothing");
  launches.launch_us.push_back(reply.samples.front().device_us);
  reads = std::move(reply.samples.front().reads);
  return std::nullopt;
}

Step ProfileRun::read_stamps(const std::string& head, std::uint32_t number, ProfiledLaunches& launches) {
  const std::vector<std::uint64_t> made = stamps_made(head, blocks(), number);
  const std::uint64_t capacity = stamp_capacity(blocks());
  RunJob job;
  for (std::uint64_t b = 0; b < blocks(); ++b) {
    const std::uint64_t kept = std::min(made[b], capacity);
    launches.dropped += made[b] - kept;
    job.reads.push_back({kStampBuffer, blocks() * kStampBlockBytes + b * capacity * kStampBytes, kept * kStampBytes, false});
  }
  auto said = run(std::move(job));
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  LaunchStamps& stamps = launches.stamps.emplace_back();
  for (const std::string& read : std::get<RunReply>(*said).reads) {
    auto parsed = parse_stamps(read);
    if (!parsed) return because(parsed.error());
    stamps.push_back(std::move(*parsed));
  }
  return std::nullopt;
}

Probed ProfileRun::probe(const ProfilePlan& plan, const ProbeTable& table, std::span<const std::byte> weights) {
  const ChainStart begin{tasks::InputSet::nominal, plan.context, plan.capacity, plan.seed};
  tasks::Oracle oracle(bench_.task, weights, bench_.threads);
  oracle.reset(drawn_states(bench_.task, begin), plan.context, plan.capacity);
  auto token = tasks::draw_token(oracle, bench_.task, plan.seed, tasks::InputSet::nominal, 0);
  if (!token) return because(token.error(), "drawing a token");
  RunJob job = fresh_workspace(plan.seed);
  const std::vector<tasks::Bytes> states = drawn_states(bench_.task, begin);
  const auto text = [](const std::byte* bytes, std::size_t count) { return std::string(reinterpret_cast<const char*>(bytes), count); };
  std::size_t number = 0, at = 0;
  for (const tasks::Tensor* state : bench_.task.with(tasks::Role::state)) {
    const tasks::Bytes& bytes = states[number++];
    job.writes.push_back({buffer_name(*state), 0, text(bytes.data(), bytes.size())});
  }
  for (const tasks::Tensor* input : bench_.task.with(tasks::Role::input)) {
    job.writes.push_back({buffer_name(*input), 0, text(token->token.data() + at, input->bytes(0))});
    at += input->bytes(0);
  }
  const std::string initial = table.initial();
  job.writes.push_back({kProbeBuffer, 0, initial});
  LaunchOrder attach = own_order(kCandidateModule, "ol_probe_attach", 1);
  attach.relocations.push_back({0, kProbeBuffer, 0});
  job.launches = {std::move(attach), megakernel({plan.context, plan.capacity, 0})};
  job.reads.push_back({kProbeBuffer, 0, initial.size(), false});
  auto said = run(std::move(job));
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  const tasks::OracleStep expected = oracle.step(token->token, true);
  return table.compare(std::get<RunReply>(*said).reads.front(), expected.probes);
}

}  // namespace onelaunch::sandbox
