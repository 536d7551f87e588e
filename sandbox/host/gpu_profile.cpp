#include "sandbox/host/gpu_profile.h"

#include "sandbox/host/generation.h"
#include "sandbox/host/gpu_arms.h"
#include "sandbox/host/static_gate.h"

namespace onelaunch::sandbox {
namespace {

constexpr double kSetUpS = 60;

}  // namespace

Result<std::variant<DeviceSession, Outcome>> GpuRunner::start(const Compiled& marked, const ProfilePlan& plan, BufferSpec extra) {
  const GradeBench& base = parts_.base;
  auto session = DeviceSession::start(base.worker, parts_.role, base.clock, interrupts_);
  if (!session) return because(session.error());
  const GpuArm arm(base.task, layout_, kCandidateModule, marked);
  SetupJob job;
  job.target = base.device.target;
  job.modules = {arm.spec(), parts_.generator, parts_.harness};
  job.buffers = layout_.weight_buffers();
  job.buffers.push_back(generator_table());
  for (const tasks::Tensor& tensor : base.task.tensors)
    if (tensor.role != tasks::Role::weight) job.buffers.push_back({buffer_name(tensor), tensor.bytes(plan.capacity), false, 0});
  for (BufferSpec& buffer : workspace_buffers(marked.launch)) job.buffers.push_back(std::move(buffer));
  for (BufferSpec& buffer : arm.prepared_buffers()) job.buffers.push_back(std::move(buffer));
  job.buffers.push_back(std::move(extra));
  auto said = session->set_up(job, -1, deadline_, kSetUpS);
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  RunJob weights = generation(base.task, layout_, parts_.generator_device, parts_.weight_seed);
  auto made = session->run(std::move(weights), deadline_, kSetUpS, {});
  if (!made) return because(made.error(), "making the weights");
  if (const Outcome* outcome = std::get_if<Outcome>(&*made)) return fail(Error::Kind::worker_lost, "making the weights: " + explain(*outcome));
  CandidateRun run(base, marked, *session, deadline_);
  auto step = arm.prepare(run);
  if (!step) return because(step.error());
  if (*step) return std::move(**step);
  return std::move(*session);
}

Redirections GpuRunner::places(const Compiled& marked) const {
  const WeightSet set{tasks::InputSet::nominal, 0};
  Redirections places = layout_.weights(set);
  places.merge(GpuArm(parts_.base.task, layout_, kCandidateModule, marked).places(set, false));
  return places;
}

Step GpuRunner::launch(const Compiled& marked, const ProfilePlan& plan, ProfiledLaunches& launches) {
  auto started = start(marked, plan, ProfileRun::stamp_buffer(grid_blocks(marked.launch.grid, parts_.base.device)));
  if (!started) return because(started.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*started)) return std::move(*outcome);
  return ProfileRun(parts_.base, marked, std::get<DeviceSession>(*started), deadline_, true, places(marked))
      .launch_all(plan, parts_.reference, launches);
}

Probed GpuRunner::probe(const Compiled& marked, const ProfilePlan& plan, const ProbeTable& table) {
  auto weights = Weights::make(parts_.base.task, parts_.weight_seed, tasks::InputSet::nominal, parts_.base.threads);
  if (!weights) return because(weights.error());
  auto started = start(marked, plan, ProfileRun::probe_buffer(table));
  if (!started) return because(started.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*started)) return std::move(*outcome);
  return ProfileRun(parts_.base, marked, std::get<DeviceSession>(*started), deadline_, true, places(marked))
      .probe(plan, table, (*weights)->bytes());
}

}  // namespace onelaunch::sandbox
