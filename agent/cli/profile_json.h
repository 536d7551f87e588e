#pragma once
// A profile for programs.

#include <string>

#include "sandbox/host/sandbox.h"

namespace onelaunch::cli {

std::string profile_json(const sandbox::KernelProfile& profile, const sandbox::DeviceInfo& device);

}  // namespace onelaunch::cli
