#pragma once
// The best verified kernel on disk: best/ of a run, replaced as a whole after every keep, and its published copy.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "sandbox/protocol/candidate.h"

namespace onelaunch::agent {

struct BestKernel {
  std::string source, cubin, card;  // kernel.cu, kernel.cubin, card.json
};

// The source with the default of each OL_TUNABLE set to the given value, so that the file alone is the kernel that was
// measured. Names that the source does not declare are passed over.
std::string with_defaults(std::string source, const sandbox::TunableValues& values);

// run/best is the old or the new kernel at every moment, never a mixture. Fails (unavailable) when the disk refuses.
Result<void> replace_best(const std::filesystem::path& run, const BestKernel& best);

// Copies kernel.cu and card.json of run/best to `folder`/<sha12 of kernel.cu>; returns that folder.
Result<std::filesystem::path> publish_best(const std::filesystem::path& run, const std::filesystem::path& folder);

}  // namespace onelaunch::agent
