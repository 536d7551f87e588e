#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace onelaunch {

void check_failed(const char* condition, const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "onelaunch: bug: %s:%d: %s does not hold: %s\n", file, line, condition, what.c_str());
  std::abort();
}

}  // namespace onelaunch
