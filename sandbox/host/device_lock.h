#pragma once
// One session at a time on a GPU: a lock by UUID that every onelaunch on this machine honours, with a record of who has it.

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace onelaunch::sandbox {

class DeviceLock {
 public:
  // Held until destroyed; the system frees it when the process dies. Fails (unavailable) when another has it, and says
  // who: pid, since when, doing what.
  static Result<DeviceLock> take(const std::filesystem::path& folder, const std::string& uuid, const std::string& purpose,
                                 const Clock& clock);

 private:
  explicit DeviceLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

// $ONELAUNCH_LOCKS, else a folder that all users of this machine share.
std::filesystem::path default_lock_folder();

}  // namespace onelaunch::sandbox
