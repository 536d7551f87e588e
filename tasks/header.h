#pragma once
// <onelaunch.cuh>: the header that every candidate of a task includes (onelaunch.candidate/1).

#include <cstddef>
#include <map>
#include <string>

#include "tasks/task.h"

namespace onelaunch::tasks {

// What the marks OL_PHASE and OL_PROBE are compiled to. Timed: nothing. Profile: stamps of every block, also round each
// grid_barrier(). Probe: copies of intermediate results. (tasks/device/profile.cuh, probe.cuh)
enum class Build { timed, profile, probe };

// The whole header as text: dims as constexpr in namespace ol, ol::Args, ol::PrepareArgs, the OL_ macros, the grid
// barrier and typed load helpers. ol::Args is the same in every build.
std::string candidate_header(const Task& task, Build build = Build::timed);

// Where the harness writes what into ol::Args (or ol::PrepareArgs): byte offsets.
struct ArgsLayout {
  std::size_t bytes = 0;
  std::map<std::string, std::size_t> pointers;  // by tensor name; PrepareArgs has the weights only
  // Offsets of 64-bit words; npos where the struct lacks the member.
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t position = npos, cache_capacity = npos, epoch = npos;  // long long, long long, unsigned long long
  std::size_t prepared = npos, sync = npos, scratch = npos;          // pointers
};
ArgsLayout args_layout(const Task& task);
ArgsLayout prepare_args_layout(const Task& task);

}  // namespace onelaunch::tasks
