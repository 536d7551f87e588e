#include "sandbox/protocol/poison.h"

#include <algorithm>
#include <cstring>

namespace onelaunch::sandbox {

void fill_poison(std::span<std::byte> bytes, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    // Each half: sign drawn, exponent all ones, mantissa drawn, not zero and never that of a NaN that arithmetic makes.
    const std::uint64_t word = (state & 0x807d807d807d807d) | 0x7f817f817f817f81;
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
}

}  // namespace onelaunch::sandbox
