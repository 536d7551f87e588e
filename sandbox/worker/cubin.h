#pragma once
// Reads from a cubin (an ELF file) what each kernel needs. Pure; refuses anything that is not well formed.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::worker {

// Registers, local (stack) and static shared bytes of every entry. Spills are not in the file.
Result<std::vector<sandbox::EntryResources>> cubin_resources(std::string_view cubin);

// Spill bytes and static shared memory as `ptxas -v` prints them, into `entries`; its lines leave the log. Only the
// last report on an entry counts: what a source prints by #pragma message comes earlier.
std::string take_ptxas_report(const std::string& log, std::vector<sandbox::EntryResources>& entries);

}  // namespace onelaunch::worker
