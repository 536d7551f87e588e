#pragma once
// tasks/device/* as text; CMake writes the definitions.

namespace onelaunch::tasks {
extern const char* const k_launch;
extern const char* const k_profile;
extern const char* const k_probe;
extern const char* const k_barrier;
extern const char* const k_loads;
extern const char* const k_generator;
}  // namespace onelaunch::tasks
