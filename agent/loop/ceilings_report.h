#pragma once
// What a device can do at best, and what a token takes at that, as text for the author of a kernel.

#include <filesystem>
#include <string>

#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::agent {

// `cache`: where ceilings that were measured in full within a day before `now_utc` are kept; without them the three
// numbers that the session measured are all there is.
std::string ceilings_report(const tasks::Task& task, const sandbox::DeviceInfo& device, const std::filesystem::path& cache,
                            const std::string& now_utc);

}  // namespace onelaunch::agent
