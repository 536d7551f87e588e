#pragma once
// Leaves this process the few system calls that running a kernel takes.

namespace onelaunch::worker {

// From now on, in all threads that this one starts: memory, time, waiting, messages over descriptors that exist, and
// leaving. All others fail with EPERM. False when the kernel has no seccomp.
bool keep_few_system_calls();

}  // namespace onelaunch::worker
