#include "sandbox/host/emulated_profile.h"

#include "sandbox/host/oracle_reference.h"
#include "sandbox/host/static_gate.h"

namespace onelaunch::sandbox {

Result<std::variant<DeviceSession, Outcome>> EmulatedRunner::start(const Compiled& marked, const ProfilePlan& plan, BufferSpec extra) {
  auto session = DeviceSession::start(bench_.worker, "emu", bench_.clock, interrupts_);
  if (!session) return because(session.error());
  SetupJob job;
  job.target = bench_.device.target;
  job.modules = {{kCandidateModule, marked.ptx, marked.cubin}};
  job.buffers = candidate_buffers(bench_.task, weights_, plan.capacity, marked.launch);
  job.buffers.push_back(std::move(extra));
  auto said = session->set_up(job, weights_.fd(), deadline_, bench_.limits.launch_s);
  if (!said) return because(said.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*said)) return std::move(*outcome);
  if (marked.prepares.empty()) return std::move(*session);
  auto step = CandidateRun(bench_, marked, *session, deadline_).prepare({}, {});
  if (!step) return because(step.error());
  if (*step) return std::move(**step);
  return std::move(*session);
}

Step EmulatedRunner::launch(const Compiled& marked, const ProfilePlan& plan, ProfiledLaunches& launches) {
  auto started = start(marked, plan, ProfileRun::stamp_buffer(grid_blocks(marked.launch.grid, bench_.device)));
  if (!started) return because(started.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*started)) return std::move(*outcome);
  OracleReference reference(bench_.task, weights_.bytes(), bench_.threads);
  return ProfileRun(bench_, marked, std::get<DeviceSession>(*started), deadline_, false, {}).launch_all(plan, reference, launches);
}

Probed EmulatedRunner::probe(const Compiled& marked, const ProfilePlan& plan, const ProbeTable& table) {
  auto started = start(marked, plan, ProfileRun::probe_buffer(table));
  if (!started) return because(started.error());
  if (Outcome* outcome = std::get_if<Outcome>(&*started)) return std::move(*outcome);
  return ProfileRun(bench_, marked, std::get<DeviceSession>(*started), deadline_, false, {}).probe(plan, table, weights_.bytes());
}

}  // namespace onelaunch::sandbox
