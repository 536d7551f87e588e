// Neither program may need CUDA to start: its libraries are loaded at run time, by the worker alone.
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

namespace onelaunch::architecture {
namespace {

std::string needed_by(const std::string& program) {
  FILE* pipe = ::popen(("readelf -d " + program + " | grep NEEDED").c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t got; (got = ::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, got);
  ::pclose(pipe);
  return text;
}

TEST(Programs, StartWithoutCudaLibraries) {
  for (const char* program : {"onelaunch", "onelaunch-worker"}) {
    const std::string needed = needed_by(std::string(ONELAUNCH_BIN) + "/" + program);
    ASSERT_NE(needed.find("libc.so"), std::string::npos) << program << " could not be read:\n" << needed;
    for (const char* library : {"libcuda", "libnvrtc", "libcupti", "libnvidia-ml"})
      EXPECT_EQ(needed.find(library), std::string::npos) << program << " needs " << library;
  }
}

TEST(Programs, TheCommandLineNeedsNoWorkerLibraries) {
  EXPECT_EQ(needed_by(std::string(ONELAUNCH_BIN) + "/onelaunch").find("libnv"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::architecture
