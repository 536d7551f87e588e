#pragma once
// A marked build at work in its worker: launches of a chain of steps with their stamps, and one launch with its probes.
// The same on the emulator and on a GPU.

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/host/candidate_run.h"
#include "sandbox/host/phase_summary.h"
#include "sandbox/host/probe_table.h"
#include "sandbox/host/profile.h"

namespace onelaunch::sandbox {

struct ProfilePlan {
  std::int64_t context = 0, capacity = 0;  // cached tokens before the first launch; rows of the caches
  std::uint64_t seed = 0;
  int warm_up = 0, launches = 1;
  bool marked = true;                      // false: of a build without marks, only the launch's time is of interest
};
// `heavy`: on the emulator, where a launch of a large task takes minutes.
ProfilePlan plan_profile(const tasks::Task& task, const ProfileRequest& request, bool on_gpu, bool heavy);

// What the launches of a profile build showed.
struct ProfiledLaunches {
  std::vector<LaunchStamps> stamps;        // of each launch
  std::vector<double> launch_us;
  std::vector<LaunchPhase> modelled;       // emu: of the last
  std::uint64_t dropped = 0;               // stamps that there was no room for
  std::string wrong;                       // the first wrong result; empty: all were right
};

using Probed = Result<std::variant<std::vector<ProbeResult>, Outcome>>;

class ProfileRun {
 public:
  // Borrows bench, candidate and session, which is set up with buffers() among the others. `redirections`: of what the
  // megakernel's parameters point to.
  ProfileRun(const GradeBench& bench, const Compiled& candidate, DeviceSession& session, Deadline deadline, bool on_gpu,
             Redirections redirections)
      : bench_(bench), candidate_(candidate), session_(session), deadline_(deadline), on_gpu_(on_gpu),
        redirections_(std::move(redirections)), orders_(bench, candidate, session, deadline) {}

  static BufferSpec stamp_buffer(std::uint64_t blocks);
  static BufferSpec probe_buffer(const ProbeTable& table);

  // Nothing: all went well. An outcome: the candidate ended the profile.
  Step launch_all(const ProfilePlan& plan, Reference& reference, ProfiledLaunches& launches);
  // One launch of a probe build, compared with the oracle, which works on the weights that the device has.
  Probed probe(const ProfilePlan& plan, const ProbeTable& table, std::span<const std::byte> weights);

 private:
  std::uint64_t blocks() const { return grid_blocks_; }
  Step launch(const ProfilePlan& plan, Chain& chain, int number, ProfiledLaunches& launches);
  // The launch itself, and what was read after it.
  Step measure(RunJob job, ProfiledLaunches& launches, std::vector<std::string>& reads);
  Step read_stamps(const std::string& head, std::uint32_t number, ProfiledLaunches& launches);
  Step start(std::vector<RunJob> jobs);
  LaunchOrder megakernel(const CallState& state) const;
  RunJob fresh_workspace(std::uint64_t seed) const;
  using Ran = Result<std::variant<RunReply, Outcome>>;
  Ran run(RunJob job) { return session_.run(std::move(job), deadline_, bench_.limits.launch_s, {}); }

  const GradeBench& bench_;
  const Compiled& candidate_;
  DeviceSession& session_;
  Deadline deadline_;
  bool on_gpu_;
  Redirections redirections_;
  CandidateRun orders_;
  std::uint64_t grid_blocks_ = 0;
};

}  // namespace onelaunch::sandbox
