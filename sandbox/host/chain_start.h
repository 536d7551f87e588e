#pragma once
// How a chain of steps begins: states drawn from a seed, on the host or on the device, with the same bits.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sandbox/protocol/messages.h"
#include "tasks/oracle.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct ChainStart {
  tasks::InputSet inputs = tasks::InputSet::nominal;
  std::int64_t context = 0, capacity = 0;  // tokens cached before the first step; rows of the caches
  std::uint64_t seed = 0;
};

// One buffer per state tensor in task order. Rows of caches that are not written yet are poison.
std::vector<tasks::Bytes> drawn_states(const tasks::Task& task, const ChainStart& start);

// The poison of a cache's unwritten rows; nothing for other states. `index`: of the state in task order.
tasks::Bytes unwritten_rows(const tasks::Task& task, std::size_t index, const ChainStart& start);

// The same states made in the memory of a GPU worker that has the generator loaded: jobs to be run in order.
std::vector<RunJob> states_on_device(const tasks::Task& task, const ChainStart& start,
                                     const std::function<std::string(const tasks::Tensor&)>& buffer_of);

}  // namespace onelaunch::sandbox
