#pragma once
// OL_CHECK: a broken invariant of our own code stops the program, in every build.

#include <string>

namespace onelaunch {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& what);
}

#define OL_CHECK(condition, what) \
  ((condition) ? void(0) : ::onelaunch::check_failed(#condition, __FILE__, __LINE__, (what)))
