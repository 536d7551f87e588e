#pragma once
// Profiles a kernel on any device: compiles it as it is timed and with its marks, runs the latter, and puts together what
// they say.

#include <vector>

#include "sandbox/host/candidate_compiler.h"
#include "sandbox/host/grader.h"
#include "sandbox/host/profile.h"
#include "sandbox/host/profile_run.h"

namespace onelaunch::sandbox {

// Where marked builds run: in a fresh worker of the device.
class MarkedRunner {
 public:
  virtual ~MarkedRunner() = default;
  virtual Step launch(const Compiled& marked, const ProfilePlan& plan, ProfiledLaunches& launches) = 0;
  virtual Probed probe(const Compiled& marked, const ProfilePlan& plan, const ProbeTable& table) = 0;
};

// All borrowed.
struct ProfilerParts {
  const GradeBench& bench;
  CandidateCompiler& compiler;
  bool on_gpu = false;
  bool heavy = false;                     // a launch takes long: one must do
};

// Fails for our own reasons and when interrupted. What the kernel did wrong is the profile's outcome; wrong results are
// told, but profiled all the same.
Result<KernelProfile> profile_kernel(const ProfilerParts& parts, const ProfileRequest& request, MarkedRunner& runner, Deadline deadline,
                                     const Interrupts::Scope& interrupts);

// MB that the ops which a phase's name says must move: "kda.0.q", "kda.q+kda.k", "moe". Indices may be left out, and a
// leading part stands for all that begin with it. Nothing when a part of the name is no op's.
std::optional<double> floor_mb_of(const std::string& phase, const tasks::Task& task, std::int64_t context);

}  // namespace onelaunch::sandbox
