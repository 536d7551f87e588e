#pragma once
// The few kernels that the harness itself launches on a GPU while it times.

#include <string>

namespace onelaunch::sandbox {

constexpr const char* kHarnessModule = "harness";

// ol_gate(flag, timeout_ns): returns when the host sets the flag. ol_sweep(data, count): reads count times 16 bytes.
std::string harness_source();

}  // namespace onelaunch::sandbox
