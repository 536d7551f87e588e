#pragma once
// What a candidate declares (onelaunch.candidate/1), as read back from its compiled module.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onelaunch::sandbox {

// OL_TUNABLE(NAME, default, v1, v2, ...): the values a search may choose from.
struct Tunable {
  std::string name;
  std::string fallback;              // the default
  std::vector<std::string> values;   // as written; includes the default
};
using TunableValues = std::map<std::string, std::string>;

// OL_LAUNCH, the words of the constant `ol_launch` (eight 64-bit words in this order).
struct LaunchDeclaration {
  std::uint64_t block = 0, grid = 0;         // grid: blocks, or kPerSm | blocks per SM
  std::uint64_t dynamic_smem = 0, cluster = 1;
  std::uint64_t sync_bytes = 0, scratch_bytes = 0, prepared_bytes = 0;
  std::uint64_t reserved = 0;
  static constexpr std::uint64_t kPerSm = 1ull << 32;
};

// OL_PREPARE, the words of the constant `ol_prepare_NAME` (four 64-bit words: order, block, grid, dynamic_smem).
struct PrepareDeclaration {
  std::string name;
  std::uint64_t order = 0, block = 0, grid = 0, dynamic_smem = 0;
};

}  // namespace onelaunch::sandbox
