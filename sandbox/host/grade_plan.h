#pragma once
// Which chains of steps a grade consists of.

#include <cstdint>
#include <vector>

#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct PlannedChain {
  tasks::InputSet set = tasks::InputSet::nominal;
  std::int64_t context = 0;
  int steps = 1;
  std::uint64_t seed = 0;            // of states, tokens, poison, and of when scratch and sync are reset
  std::uint64_t schedule_seed = 0;   // of every step but a timed chain's last; 0: round robin
  bool timed = false;                // its last step is a measurement
  bool linked = false;               // new states, but sync, scratch and epoch as the chain before left them
  bool detect = false;               // emu: with the detectors of races and undefined reads
  std::int64_t capacity = 0;         // rows of its caches, where chains differ in them; 0: the plan's
};

struct GradePlan {
  std::vector<PlannedChain> chains;  // those on nominal inputs first
  std::int64_t capacity = 0;         // rows of every cache, the same for all chains
};

// Tasks with more weights than this are checked one step a context, on strict inputs in the first context only.
constexpr std::size_t kHeavyWeightBytes = std::size_t{256} << 20;

// `seed`: the request's, or fresh from the operating system.
GradePlan plan_grade(const tasks::Task& task, std::size_t weight_bytes, const GradeRequest& request, std::uint64_t seed);

struct GpuGradePlan {
  std::vector<PlannedChain> chains;
  std::vector<std::int64_t> contexts;  // to be timed
  std::int64_t capacity = 0;           // the largest of a chain
  std::uint64_t seed = 0;
};
// On a GPU a step costs little: two seeds on each kind of inputs at every context, strict ones at odd contexts near it.
GpuGradePlan plan_gpu_grade(const tasks::Task& task, const GradeRequest& request, std::uint64_t seed);

// Another stream of the same seed.
std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t stream);
std::uint64_t fresh_seed();

}  // namespace onelaunch::sandbox
