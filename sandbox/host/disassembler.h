#pragma once
// Machine code as text, by the disassemblers of the CUDA Toolkit where one is installed. We ship none.

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/interrupts.h"
#include "sandbox/host/profile.h"

namespace onelaunch::sandbox {

struct Disassembly {
  std::string tool;  // "nvdisasm", "cuobjdump"
  std::string text;  // as it prints it
};
// Fails (unavailable) without a tool, or when it fails.
Result<Disassembly> disassembly(const std::string& cubin, const Clock& clock, Deadline deadline, const Interrupts::Scope& interrupts);

// What this kernel of a cubin consists of. Without a tool, or when it fails, the report says so in `problem`.
SassReport disassemble(const std::string& cubin, const std::string& entry, const Clock& clock, Deadline deadline,
                       const Interrupts::Scope& interrupts);

}  // namespace onelaunch::sandbox
