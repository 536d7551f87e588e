#pragma once
// Leaves this process the few system calls that running a kernel takes.

namespace onelaunch::worker {

// From now on, in all threads: memory, time, waiting, new threads, messages over descriptors that exist, and leaving. All
// others fail with EPERM: no files, no sockets, no processes. False when the kernel has no seccomp.
enum class Device { emulated, gpu };  // a GPU's driver talks to its descriptors
bool keep_few_system_calls(Device device);

}  // namespace onelaunch::worker
