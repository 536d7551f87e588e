#pragma once
// The kernels in tests/hostile as source text.

#include <string>

#include "base/files.h"

namespace onelaunch::sandbox {

inline std::string hostile_file(const std::string& name) {
  const auto content = read_file(std::string(ONELAUNCH_HOSTILE) + "/" + name, 1 << 20);
  return content ? *content : "#error " + content.error().message;
}

// The line HONEST_ROW stands for a function that computes one output of rmsnorm_linear as it should.
inline std::string hostile_kernel(const std::string& name) {
  std::string source = hostile_file(name + ".cu");
  const std::string mark = "\nHONEST_ROW\n";
  if (const std::size_t at = source.find(mark); at != std::string::npos)
    source.replace(at, mark.size(), "\n" + hostile_file("honest_row.inc"));
  return source;
}

}  // namespace onelaunch::sandbox
