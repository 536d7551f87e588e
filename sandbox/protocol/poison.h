#pragma once
// Bytes that are a NaN however they are read (f32, or either half as bf16), different for every seed.

#include <cstddef>
#include <cstdint>
#include <span>

namespace onelaunch::sandbox {

void fill_poison(std::span<std::byte> bytes, std::uint64_t seed);

}  // namespace onelaunch::sandbox
