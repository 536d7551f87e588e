#pragma once
// Takes rights away from the calling process, for good. Linux only; each step is skipped where the kernel lacks it.

#include <cstdint>
#include <filesystem>

namespace onelaunch::worker {

enum class Containment { landlock, namespaced, weak };
const char* name_of(Containment containment);  // "landlock", "namespace", "weak"

struct ReaderConfinement {
  Containment containment = Containment::weak;
  bool new_root = false;  // the folder is now "/"
};

// The process can read files below `folder` and no others, reach no network, and gain no privileges. Where possible it
// also takes `folder` as its root, so that not even the existence of other files can be seen.
ReaderConfinement confine_to_reading(const std::filesystem::path& folder);

// The process can open no file and no network connection at all; descriptors that it has keep working.
// False when the kernel has no Landlock.
bool deny_all_files();

struct ProcessLimits {
  std::uint64_t address_space_bytes = 0, data_bytes = 0, file_bytes = 0;  // 0: as it was (file_bytes: none)
  std::uint64_t cpu_seconds = 0;
  std::uint64_t descriptors = 0;
};
void apply(const ProcessLimits& limits);

}  // namespace onelaunch::worker
