#include "sandbox/emulator/ptx/types.h"

#include <array>
#include <utility>

namespace onelaunch::emu::ptx {

std::size_t type_bytes(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 26> kTypes{{
      {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b16", 2},
      {"u16", 2}, {"s16", 2}, {"f16", 2}, {"bf16", 2}, {"b8", 1}, {"u8", 1}, {"s8", 1}, {"f16x2", 4}, {"bf16x2", 4},
      {"tf32", 4}, {"b128", 16}, {"e4m3", 1}, {"e5m2", 1}, {"e4m3x2", 2}, {"e5m2x2", 2}, {"u16x2", 4}, {"s16x2", 4},
  }};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return 0;
}

}  // namespace onelaunch::emu::ptx
