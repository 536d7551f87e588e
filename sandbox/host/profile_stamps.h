#pragma once
// The buffer that profile builds stamp (tasks/device/profile.cuh): its layout, and what is found in it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace onelaunch::sandbox {

constexpr std::uint64_t kStampBlockBytes = 32, kStampBytes = 64;

struct Stamp {
  enum class Kind { phase = 1, leave = 2, arrive = 3, released = 4 };
  Kind kind = Kind::phase;
  std::uint64_t ns = 0;
  int sm = 0;
  std::string name;                       // of a phase
};

// Of one launch: by block, each in the order of time.
using LaunchStamps = std::vector<std::vector<Stamp>>;

// Stamps that a block has room for, of so many blocks: as many as 64 MiB hold, at most 4096.
std::uint64_t stamp_capacity(std::uint64_t blocks);
std::uint64_t stamp_buffer_bytes(std::uint64_t blocks);

// How many stamps each block made in this launch, those without room among them, from the buffer's first bytes.
std::vector<std::uint64_t> stamps_made(std::string_view head, std::uint64_t blocks, std::uint32_t launch);
// One block's. Fails (worker_lost) on bytes that no stamp leaves.
Result<std::vector<Stamp>> parse_stamps(std::string_view bytes);

}  // namespace onelaunch::sandbox
