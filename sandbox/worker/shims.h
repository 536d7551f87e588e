#pragma once
// Headers that ordinary CUDA code includes and NVRTC does not have, passed to it in memory.

#include <span>

namespace onelaunch::worker {

struct Shim {
  const char* name;  // "cstdint"
  const char* text;
};

// Included before every source: fixed-width integers, INFINITY, NAN and the like.
constexpr const char* kPreludeName = "onelaunch_prelude.h";

std::span<const Shim> shims();

}  // namespace onelaunch::worker
