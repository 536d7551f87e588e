#pragma once
// One writer to a run directory: a lock on writer.lock, held until destroyed and gone with the process.

#include <filesystem>

#include "base/result.h"
#include "base/unique_fd.h"

namespace onelaunch::traces {

class RunLock {
 public:
  // Fails (unavailable) when another writer holds it; its process id is in the message.
  static Result<RunLock> take(const std::filesystem::path& run);

 private:
  explicit RunLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace onelaunch::traces
