#pragma once
// What ran on the device, as CUPTI's activity records tell. At most one recorder in a process.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::cuda {

struct Activity {
  std::vector<std::string> kernels;     // names, one for each that ran
  std::vector<double> kernel_us;        // durations, likewise
  std::uint32_t graphs = 0, memcpys = 0, memsets = 0;
};

class ActivityRecorder {
 public:
  // Loads CUPTI, also beside the toolkit. Fails (unavailable) when it is missing or of another version.
  static Result<ActivityRecorder> load();

  Result<void> start() const;
  // Stops and gives everything that ended since start(). The device must be idle.
  Result<Activity> stop() const;

 private:
  struct Functions;
  explicit ActivityRecorder(const Functions* functions) : functions_(functions) {}
  const Functions* functions_;
};

}  // namespace onelaunch::cuda
