#pragma once
// launcher.c and torch_runtime.py as text; CMake writes the definitions.

#include <string_view>

namespace onelaunch::exporting {
extern const std::string_view k_launcher;
extern const std::string_view k_torch_runtime;
}  // namespace onelaunch::exporting
