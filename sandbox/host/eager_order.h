#pragma once
// The launches of a task's unfused kernels, as a worker wants them.

#include <cstdint>
#include <string>

#include "sandbox/protocol/messages.h"
#include "tasks/eager.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

// The buffer behind a name of the plan: a tensor's, or that of an intermediate result.
std::string eager_buffer(const tasks::Task& task, const std::string& name);

LaunchOrder eager_order(const tasks::Task& task, const tasks::EagerLaunch& launch, std::int64_t position,
                        std::int64_t capacity);

}  // namespace onelaunch::sandbox
