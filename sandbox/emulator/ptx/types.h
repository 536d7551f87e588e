#pragma once
// Sizes of PTX's fundamental types, by name without the dot.

#include <cstddef>
#include <string_view>

namespace onelaunch::emu::ptx {

// Bytes of one element ("b8" 1, "f16x2" 4, "b128" 16); 0 when it is no type. "pred" is no memory type: 0.
std::size_t type_bytes(std::string_view type);

}  // namespace onelaunch::emu::ptx
