#pragma once
// What kernels print: the driver writes it to this process's standard output, which is a pipe of bounded size.

#include <string>

#include "base/unique_fd.h"

namespace onelaunch::worker {

class PrintedOutput {
 public:
  // Puts a pipe in the place of this descriptor. What does not fit is lost.
  explicit PrintedOutput(int descriptor);

  // Everything since the last call.
  std::string take(bool& truncated);

  static constexpr int kBytesMax = 64 << 10;

 private:
  UniqueFd read_;
};

}  // namespace onelaunch::worker
